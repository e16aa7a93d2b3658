"""Grid Engine: Sun's, Son of Grid Engine, Univa's and Altair's."""
