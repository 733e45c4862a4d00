"""Components, one file each. `ALL_COMPONENTS` is the list that studies, documentation and tests go by."""

from articulus.runs.component import Component
from articulus.runs.components.computed_torque import ComputedTorque
from articulus.runs.components.dead_band import DeadBand
from articulus.runs.components.expression import Expression
from articulus.runs.components.first_order import FirstOrderActuator
from articulus.runs.components.force_sensor import ForceSensor
from articulus.runs.components.frame_acceleration import FrameAcceleration
from articulus.runs.components.frame_pose import FramePose
from articulus.runs.components.frame_velocity import FrameVelocity
from articulus.runs.components.frame_wrench import FrameWrench
from articulus.runs.components.ground_contact import GroundContact
from articulus.runs.components.hydraulic_rotary import HydraulicRotary
from articulus.runs.components.joint_rate import JointRate
from articulus.runs.components.joint_sensor import JointSensor
from articulus.runs.components.joint_stop import JointStop
from articulus.runs.components.measured import Measured
from articulus.runs.components.motor import Motor
from articulus.runs.components.observer import Observer
from articulus.runs.components.pd import PD
from articulus.runs.components.pid import PID
from articulus.runs.components.piezo_pair import PiezoPair
from articulus.runs.components.prescribed_force import PrescribedForce
from articulus.runs.components.proof_mass import ProofMass
from articulus.runs.components.rate_gyro import RateGyro
from articulus.runs.components.rate_limit import RateLimit
from articulus.runs.components.resolved_rate import ResolvedRate
from articulus.runs.components.saturation import Saturation
from articulus.runs.components.second_order import SecondOrderActuator
from articulus.runs.components.servo_constraints import ServoConstraints
from articulus.runs.components.state_feedback import StateFeedback
from articulus.runs.components.strain_sensor import StrainSensor
from articulus.runs.components.torque import Torque
from articulus.runs.components.white_noise import WhiteNoise
from articulus.runs.table import Table

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
