"""Components, one file each. `ALL_COMPONENTS` is the list that studies, documentation and tests go by."""

from articulus.simulate.component import Component
from articulus.simulate.components.computed_torque import ComputedTorque
from articulus.simulate.components.dead_band import DeadBand
from articulus.simulate.components.expression import Expression
from articulus.simulate.components.first_order import FirstOrderActuator
from articulus.simulate.components.force_sensor import ForceSensor
from articulus.simulate.components.frame_acceleration import FrameAcceleration
from articulus.simulate.components.frame_pose import FramePose
from articulus.simulate.components.frame_velocity import FrameVelocity
from articulus.simulate.components.frame_wrench import FrameWrench
from articulus.simulate.components.ground_contact import GroundContact
from articulus.simulate.components.hydraulic_rotary import HydraulicRotary
from articulus.simulate.components.joint_rate import JointRate
from articulus.simulate.components.joint_sensor import JointSensor
from articulus.simulate.components.joint_stop import JointStop
from articulus.simulate.components.measured import Measured
from articulus.simulate.components.motor import Motor
from articulus.simulate.components.observer import Observer
from articulus.simulate.components.pd import PD
from articulus.simulate.components.pid import PID
from articulus.simulate.components.piezo_pair import PiezoPair
from articulus.simulate.components.prescribed_force import PrescribedForce
from articulus.simulate.components.proof_mass import ProofMass
from articulus.simulate.components.rate_gyro import RateGyro
from articulus.simulate.components.rate_limit import RateLimit
from articulus.simulate.components.resolved_rate import ResolvedRate
from articulus.simulate.components.saturation import Saturation
from articulus.simulate.components.second_order import SecondOrderActuator
from articulus.simulate.components.servo_constraints import ServoConstraints
from articulus.simulate.components.state_feedback import StateFeedback
from articulus.simulate.components.strain_sensor import StrainSensor
from articulus.simulate.components.torque import Torque
from articulus.simulate.components.white_noise import WhiteNoise
from articulus.simulate.table import Table

SENSORS = (
    JointSensor,
    FramePose,
    FrameVelocity,
    FrameAcceleration,
    RateGyro,
    ForceSensor,
    StrainSensor,
    Measured,
)
CONTROLLERS = (PD, PID, ComputedTorque, StateFeedback, Expression, JointRate, ResolvedRate, ServoConstraints)
ACTUATORS = (
    Torque,
    Motor,
    HydraulicRotary,
    ProofMass,
    PiezoPair,
    FirstOrderActuator,
    SecondOrderActuator,
    Saturation,
    DeadBand,
    RateLimit,
)
DISTURBANCES = (PrescribedForce, FrameWrench, WhiteNoise, JointStop, GroundContact)

ALL_COMPONENTS: tuple[type[Component], ...] = (*SENSORS, *CONTROLLERS, *ACTUATORS, *DISTURBANCES)

__all__ = [
    "ACTUATORS", "ALL_COMPONENTS", "CONTROLLERS", "DISTURBANCES", "PD", "PID", "SENSORS", "ComputedTorque", "DeadBand",
    "Expression", "FirstOrderActuator", "ForceSensor", "FrameAcceleration", "FramePose", "FrameVelocity", "FrameWrench",
    "GroundContact", "HydraulicRotary", "JointRate", "JointSensor", "JointStop", "Measured", "Motor", "Observer",
    "PiezoPair", "PrescribedForce", "ProofMass", "RateGyro", "RateLimit", "ResolvedRate", "Saturation", "SecondOrderActuator",
    "ServoConstraints", "StateFeedback", "StrainSensor", "Table", "Torque", "WhiteNoise",
]  # fmt: skip
