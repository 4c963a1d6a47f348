"""What is installed against what is offered: updates, pins, former versions, left-overs."""
