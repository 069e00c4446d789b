"""The google provider's schema for the resource types in use, and what is checked against it."""
