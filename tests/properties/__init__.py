"""What must hold for every input, shown on inputs that hypothesis makes up."""
