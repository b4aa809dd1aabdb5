"""What a run was made with: code, software, machine, data, seeds."""
