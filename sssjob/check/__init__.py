"""Whether a document follows the standard, and what follows from what is not understood."""
