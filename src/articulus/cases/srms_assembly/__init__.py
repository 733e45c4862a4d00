"""The shuttle's arm fetches a payload, lifts it, docks it; its base on a track."""
