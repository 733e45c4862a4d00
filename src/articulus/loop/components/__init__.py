"""Components, one file each. `ALL_COMPONENTS` is the list that studies, documentation and tests go by."""

from articulus.loop.component import Component
from articulus.loop.components.accelerometer import Accelerometer
from articulus.loop.components.backlash import Backlash
from articulus.loop.components.beam_forces import BeamForces
from articulus.loop.components.bearing_friction import BearingFriction
from articulus.loop.components.buoyancy import Buoyancy
from articulus.loop.components.bushing import Bushing
from articulus.loop.components.cable import Cable
from articulus.loop.components.central_gravity import CentralGravity
from articulus.loop.components.computed_torque import ComputedTorque
from articulus.loop.components.contact import Contact
from articulus.loop.components.contacts import Contacts
from articulus.loop.components.dead_band import DeadBand
from articulus.loop.components.deflection_feedback import DeflectionFeedback
from articulus.loop.components.drag import Drag
from articulus.loop.components.expression import Expression
from articulus.loop.components.first_order import FirstOrderActuator
from articulus.loop.components.force_sensor import ForceSensor
from articulus.loop.components.frame_acceleration import FrameAcceleration
from articulus.loop.components.frame_pose import FramePose
from articulus.loop.components.frame_velocity import FrameVelocity
from articulus.loop.components.frame_wrench import FrameWrench
from articulus.loop.components.ground_contact import GroundContact
from articulus.loop.components.hydraulic_cylinder import HydraulicCylinder
from articulus.loop.components.hydraulic_rotary import HydraulicRotary
from articulus.loop.components.joint_friction import JointFriction
from articulus.loop.components.joint_rate import JointRate
from articulus.loop.components.joint_sensor import JointSensor
from articulus.loop.components.joint_stop import JointStop
from articulus.loop.components.linear_actuator import LinearActuator
from articulus.loop.components.linear_controller import LinearController
from articulus.loop.components.linear_drive import LinearDrive
from articulus.loop.components.measured import Measured
from articulus.loop.components.motor import Motor
from articulus.loop.components.observer import Observer
from articulus.loop.components.pd import PD
from articulus.loop.components.pid import PID
from articulus.loop.components.piezo_pair import PiezoPair
from articulus.loop.components.prescribed_command import PrescribedCommand
from articulus.loop.components.prescribed_force import PrescribedForce
from articulus.loop.components.proof_mass import ProofMass
from articulus.loop.components.pseudolink import Pseudolink
from articulus.loop.components.rate_gyro import RateGyro
from articulus.loop.components.rate_limit import RateLimit
from articulus.loop.components.resolved_rate import ResolvedRate
from articulus.loop.components.saturation import Saturation
from articulus.loop.components.second_order import SecondOrderActuator
from articulus.loop.components.servo_constraints import ServoConstraints
from articulus.loop.components.spring_damper import SpringDamper
from articulus.loop.components.state_feedback import StateFeedback
from articulus.loop.components.strain_sensor import StrainSensor
from articulus.loop.components.thruster import Thruster
from articulus.loop.components.torque import Torque
from articulus.loop.components.torsion_spring import TorsionSpring
from articulus.loop.components.varying_gravity import VaryingGravity
from articulus.loop.components.velocimeter import Velocimeter
from articulus.loop.components.white_noise import WhiteNoise
from articulus.loop.components.winch import Winch
from articulus.loop.table import Table

SENSORS = (
    JointSensor,
    FramePose,
    FrameVelocity,
    FrameAcceleration,
    RateGyro,
    Accelerometer,
    Velocimeter,
    ForceSensor,
    StrainSensor,
    Measured,
)
CONTROLLERS = (
    PD,
    PID,
    ComputedTorque,
    Pseudolink,
    DeflectionFeedback,
    StateFeedback,
    LinearController,
    Expression,
    JointRate,
    ResolvedRate,
    ServoConstraints,
    PrescribedCommand,
)
ACTUATORS = (
    Torque,
    LinearDrive,
    Motor,
    HydraulicRotary,
    LinearActuator,
    HydraulicCylinder,
    Winch,
    ProofMass,
    PiezoPair,
    Thruster,
    FirstOrderActuator,
    SecondOrderActuator,
    Saturation,
    DeadBand,
    RateLimit,
)
DISTURBANCES = (
    PrescribedForce,
    FrameWrench,
    WhiteNoise,
    JointStop,
    GroundContact,
    Contact,
    Contacts,
    SpringDamper,
    TorsionSpring,
    Bushing,
    BeamForces,
    Cable,
    JointFriction,
    BearingFriction,
    Drag,
    Buoyancy,
    VaryingGravity,
    CentralGravity,
    Backlash,
)

ALL_COMPONENTS: tuple[type[Component], ...] = (*SENSORS, *CONTROLLERS, *ACTUATORS, *DISTURBANCES)

__all__ = [
    "ACTUATORS",
    "ALL_COMPONENTS",
    "CONTROLLERS",
    "DISTURBANCES",
    "PD",
    "PID",
    "SENSORS",
    "Accelerometer",
    "Backlash",
    "BeamForces",
    "BearingFriction",
    "Buoyancy",
    "Bushing",
    "Cable",
    "CentralGravity",
    "ComputedTorque",
    "Contact",
    "Contacts",
    "DeadBand",
    "DeflectionFeedback",
    "Drag",
    "Expression",
    "FirstOrderActuator",
    "ForceSensor",
    "FrameAcceleration",
    "FramePose",
    "FrameVelocity",
    "FrameWrench",
    "GroundContact",
    "HydraulicCylinder",
    "HydraulicRotary",
    "JointFriction",
    "JointRate",
    "JointSensor",
    "JointStop",
    "LinearActuator",
    "LinearController",
    "LinearDrive",
    "Measured",
    "Motor",
    "Observer",
    "PiezoPair",
    "PrescribedCommand",
    "PrescribedForce",
    "ProofMass",
    "Pseudolink",
    "RateGyro",
    "RateLimit",
    "ResolvedRate",
    "Saturation",
    "SecondOrderActuator",
    "ServoConstraints",
    "SpringDamper",
    "StateFeedback",
    "StrainSensor",
    "Table",
    "Thruster",
    "Torque",
    "TorsionSpring",
    "VaryingGravity",
    "Velocimeter",
    "WhiteNoise",
    "Winch",
]
