"""What everybody asks about the course."""
