"""From canonical motion to tosses that can be identified on: surface, events, flight, body."""
