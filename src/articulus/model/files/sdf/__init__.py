"""SDF, the models of Gazebo."""
