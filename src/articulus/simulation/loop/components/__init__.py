"""Components, one file each or one per family (frame sensors, actuator wrappers). `ALL_COMPONENTS` is the list that studies, documentation and tests go by.

What surrounds spacecraft in orbit, their parts and their laws of attitude are in `components.spacecraft`, parts of aircraft in `components.aircraft`,
failures, votes and checks around flight code in `components.executive`.
"""

from articulus.model.late import name_finder
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import aircraft, executive, spacecraft
from articulus.simulation.loop.components.actuator_wrappers import (
    DeadBand,
    FirstOrderActuator,
    RateLimit,
    Saturation,
    SecondOrderActuator,
)
from articulus.simulation.loop.components.backlash import Backlash
from articulus.simulation.loop.components.beam_forces import BeamForces
from articulus.simulation.loop.components.bearing_friction import BearingFriction
from articulus.simulation.loop.components.buoyancy import Buoyancy
from articulus.simulation.loop.components.bushing import Bushing
from articulus.simulation.loop.components.cable import Cable
from articulus.simulation.loop.components.central_gravity import CentralGravity
from articulus.simulation.loop.components.computed_torque import ComputedTorque
from articulus.simulation.loop.components.contact import Contact
from articulus.simulation.loop.components.contacts import Contacts
from articulus.simulation.loop.components.deflection_feedback import DeflectionFeedback
from articulus.simulation.loop.components.drag import Drag
from articulus.simulation.loop.components.expression import Expression
from articulus.simulation.loop.components.force_sensor import ForceSensor
from articulus.simulation.loop.components.frame_sensors import (
    Accelerometer,
    FrameAcceleration,
    FramePose,
    FrameVelocity,
    RateGyro,
    Velocimeter,
)
from articulus.simulation.loop.components.frame_wrench import FrameWrench
from articulus.simulation.loop.components.ground_contact import GroundContact
from articulus.simulation.loop.components.hydraulic_cylinder import HydraulicCylinder
from articulus.simulation.loop.components.hydraulic_rotary import HydraulicRotary
from articulus.simulation.loop.components.hysteresis import BoucWenActuator, PreisachActuator
from articulus.simulation.loop.components.input_shaper import InputShaper
from articulus.simulation.loop.components.joint_friction import JointFriction
from articulus.simulation.loop.components.joint_rate import JointRate
from articulus.simulation.loop.components.joint_sensor import JointSensor
from articulus.simulation.loop.components.joint_stop import JointStop
from articulus.simulation.loop.components.linear_actuator import LinearActuator
from articulus.simulation.loop.components.linear_controller import LinearController
from articulus.simulation.loop.components.linear_drive import LinearDrive
from articulus.simulation.loop.components.measured import Measured
from articulus.simulation.loop.components.motor import Motor
from articulus.simulation.loop.components.observer import Observer
from articulus.simulation.loop.components.pd import PD
from articulus.simulation.loop.components.pid import PID
from articulus.simulation.loop.components.piezo_pair import PiezoPair
from articulus.simulation.loop.components.prescribed import PrescribedCommand, PrescribedForce
from articulus.simulation.loop.components.proof_mass import ProofMass
from articulus.simulation.loop.components.pseudolink import Pseudolink
from articulus.simulation.loop.components.reaction_wheel import ReactionWheel
from articulus.simulation.loop.components.resolved_rate import ResolvedRate
from articulus.simulation.loop.components.servo_constraints import ServoConstraints
from articulus.simulation.loop.components.sliding_friction import SlidingFriction
from articulus.simulation.loop.components.spring_damper import SpringDamper
from articulus.simulation.loop.components.state_feedback import StateFeedback
from articulus.simulation.loop.components.strain_sensor import StrainSensor
from articulus.simulation.loop.components.thruster import Thruster
from articulus.simulation.loop.components.torque import Torque
from articulus.simulation.loop.components.torsion_spring import TorsionSpring
from articulus.simulation.loop.components.varying_gravity import VaryingGravity
from articulus.simulation.loop.components.white_noise import WhiteNoise
from articulus.simulation.loop.components.winch import Winch
from articulus.simulation.loop.table import Table

SENSORS: tuple[type[Component], ...] = (
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
    *executive.SENSORS,
    *spacecraft.SENSORS,
    *aircraft.SENSORS,
)
CONTROLLERS: tuple[type[Component], ...] = (
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
    InputShaper,
    *executive.CONTROLLERS,
    *spacecraft.CONTROLLERS,
    *aircraft.CONTROLLERS,
)
ACTUATORS: tuple[type[Component], ...] = (
    Torque,
    LinearDrive,
    Motor,
    HydraulicRotary,
    LinearActuator,
    HydraulicCylinder,
    Winch,
    ProofMass,
    ReactionWheel,
    PiezoPair,
    Thruster,
    FirstOrderActuator,
    SecondOrderActuator,
    Saturation,
    DeadBand,
    RateLimit,
    *executive.ACTUATORS,
    *spacecraft.ACTUATORS,
    *aircraft.ACTUATORS,
    BoucWenActuator,
    PreisachActuator,
)
DISTURBANCES: tuple[type[Component], ...] = (
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
    SlidingFriction,
    Drag,
    Buoyancy,
    VaryingGravity,
    CentralGravity,
    Backlash,
    *spacecraft.DISTURBANCES,
    *aircraft.DISTURBANCES,
)

ALL_COMPONENTS: tuple[type[Component], ...] = (*SENSORS, *CONTROLLERS, *ACTUATORS, *DISTURBANCES)

__getattr__ = name_finder(__name__, "spacecraft", "aircraft", "executive")

__all__ = [
    "ALL_COMPONENTS",
    "PD",
    "PID",
    "Accelerometer",
    "Backlash",
    "BeamForces",
    "BearingFriction",
    "BoucWenActuator",
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
    "InputShaper",
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
    "PreisachActuator",
    "PrescribedCommand",
    "PrescribedForce",
    "ProofMass",
    "Pseudolink",
    "RateGyro",
    "RateLimit",
    "ReactionWheel",
    "ResolvedRate",
    "Saturation",
    "SecondOrderActuator",
    "ServoConstraints",
    "SlidingFriction",
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
