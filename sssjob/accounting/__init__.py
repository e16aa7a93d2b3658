"""What jobs used: added up in reports, joined with the grid's logs, written as usage records."""
