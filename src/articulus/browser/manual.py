"""The manual of the pages: a sentence for every control, once, for the pages and for the documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Control:
    """Something to press, choose or move on a page.

    Parameters
    ----------
    at : str
        CSS selector of it.
    name : str
        What it is called.
    text : str
        What it does, a sentence.
    page : str
        Script of the page that has it: "player.js", "pose.js", ...
    """

    at: str
    name: str
    text: str
    page: str = "player.js"


PLAYER = (
    Control("#menu", "Panel", "Shows or hides the panel on the left."),
    Control("#shot", "Picture", "Saves the view as a PNG, at the full resolution of the window."),
    Control(
        "#film", "Video", "Plays from start to end and saves it as a video; pressed again it ends early."
    ),
    Control("#gif", "GIF", "Saves the run from start to end as an animated GIF for slides."),
    Control("#theme", "Light or dark", "Changes between light and dark."),
    Control("#help", "Manual", "Opens this manual; F1 opens it at the control that has the focus."),
    Control("#runs input", "Runs", "Shows or hides a run, in the view and in the plots."),
    Control("#show-shape", "Shapes", "Draws the bodies as their visuals; without it a skeleton is drawn."),
    Control(
        "#show-mass",
        "Centers of mass",
        "Draws a ball at the center of mass of each body, larger for a larger mass.",
    ),
    Control("#show-frame", "Frames", "Draws the axes of bodies and named frames: x red, y green, z blue."),
    Control("#show-axis", "Joint axes", "Draws the axis of each joint as a dashed line."),
    Control(
        "#show-grid", "Ground grid", "Draws a grid on the ground; the size of its cells stands in the corner."
    ),
    Control(
        "#show-arrow",
        "Forces",
        "Draws forces in red and moments in violet, as long as their share of the largest one.",
    ),
    Control(
        "#trail",
        "Trail of",
        "Draws the path of the origin of a body or frame: thick for the past, thin for the future.",
    ),
    Control("#scale", "Deformation", "Exaggerates how flexible bodies bend; × 1 is true."),
    Control(
        "#signals summary, #signals .entry",
        "Signals",
        "Opens a plot of a signal; dragged onto a plot, the signal is drawn there too.",
    ),
    Control("#tree input", "Bodies", "Shows or hides a body; pointing at its name highlights it."),
    Control(
        "#view",
        "View",
        "Turns when dragged, zooms with the wheel, shifts with the right button; a double click looks at a point.",
    ),
    Control(
        ".views button:nth-of-type(-n+4)",
        "Iso, Front, Side, Top",
        "Looks at the whole mechanism from a side.",
    ),
    Control(
        ".views button[aria-label^=Parallel]",
        "Parallel",
        "Draws with parallel rays, in which equal lengths look equal.",
    ),
    Control(
        ".views button[aria-label^=Measure]",
        "Measure",
        "Measures between points of bodies that you press: two for a distance, a third for the angle.",
    ),
    Control(".views button[aria-label^=Save]", "Strobe", "Saves successive positions in one picture."),
    Control(".views select", "follow ...", "Lets the camera go with a body or frame."),
    Control("#home", "Whole mechanism", "Brings the whole mechanism into view."),
    Control(
        ".plot-tools button",
        "−, +, ‹, ›, all",
        "Zooms and shifts the window of time of all plots, or shows all of it.",
    ),
    Control(
        ".plot-tools button[aria-pressed]",
        "A | B",
        "Puts two cursors into the plots: the tables then have differences, slopes, means and integrals.",
    ),
    Control(".panel-head > select", "Signal of a plot", "Chooses what the plot shows."),
    Control(".panel-head > button", "× at a plot", "Removes the plot."),
    Control(".panel .menu summary", "⋯ at a plot", "Opens what else a plot can do."),
    Control(
        ".menu-body label:nth-of-type(1) select",
        "Show",
        "Shows the signal over time, its spectrum in the window, or one signal against another.",
    ),
    Control(".menu-body input", "logarithmic", "Makes the vertical axis logarithmic."),
    Control(
        ".menu-body label:nth-of-type(3) select",
        "add a signal ...",
        "Draws another signal in the same plot; a second unit gets an axis on the right.",
    ),
    Control(
        ".menu-body button",
        "CSV, SVG, PNG",
        "Saves or copies what the plot shows: numbers, or a figure on white.",
    ),
    Control(
        ".sheet canvas",
        "Plot",
        "Goes to a time when pressed; wheel or Shift and drag zoom, Alt and drag shifts, a double click shows all.",
    ),
    Control(".legend .entry", "Legend", "Shows or hides a curve."),
    Control("#add", "+ Add plot", "Adds a plot."),
    Control("#start", "To the start", "Goes to the start."),
    Control("#play", "Play", "Plays or pauses."),
    Control("#time", "Timeline", "Goes to a time; red marks below it are events."),
    Control("#speed", "Speed", "Sets how fast it plays; × 1 is real time."),
    Control("#loop", "Loop", "Begins again at the end."),
    Control("#tabs button", "Tabs", "Brings a panel to the front."),
)
LIVE = (
    Control(".sliders input", "Joints", "Moves a joint or a modal coordinate; loops stay closed.", "pose.js"),
    Control("#pose-reset", "As at the start", "Takes back all movements by hand.", "pose.js"),
    Control(
        "#grip",
        "Frame",
        "Puts arrows at a frame, by which it is pulled; the joints follow within their limits.",
        "pose.js",
    ),
    Control("#grip-mode", "Move", "Chooses whether the place or the attitude is pulled.", "pose.js"),
    Control(
        "#locked", "Joints locked", "Finds the modes of flexible bodies with their joints held.", "modes.js"
    ),
    Control("#amplitude", "Amplitude", "Sets how far a mode is shown to swing.", "modes.js"),
    Control(
        "#find-modes", "Find modes", "Finds the natural modes about the position that is shown.", "modes.js"
    ),
    Control("#modes button", "Modes", "Plays a mode slowly.", "modes.js"),
    Control("#back", "Back", "Shows the run or the position again.", "modes.js"),
    Control(
        "#tab-design .knob input",
        "Parameters",
        "Sets a parameter; the run is made again and shown, with the first one as a ghost.",
        "desk.js",
    ),
    Control("#design-reset", "As run", "Gives all parameters the values of the run.", "desk.js"),
    Control(
        "#design-family",
        "Family",
        "Makes eight runs over the range of the parameter that was moved last.",
        "desk.js",
    ),
    Control("#design-at", "About", "Chooses the time about which the loop is linearized.", "desk.js"),
    Control(
        "#design-input, #design-output",
        "From, To",
        "Chooses input and output of the frequency response.",
        "desk.js",
    ),
    Control(
        ".chart summary",
        "Charts",
        "Opens or closes a chart.",
        "charts.js",
    ),
    Control(
        ".chart canvas",
        "Chart",
        "Shows the values at the pointer; maps of poles zoom with the wheel and shift when dragged.",
        "charts.js",
    ),
    Control(
        ".chart select",
        "Choice of a chart",
        "Chooses the command, the input or the output that the chart is about.",
        "charts.js",
    ),
    Control(
        "#tab-control details summary",
        "Commands, Measured",
        "Opens the list of signals that the controller commands and measures.",
        "control.js",
    ),
    Control(
        "#control-method",
        "Method",
        "Chooses how the controller is designed; its sentence stands below.",
        "control.js",
    ),
    Control(
        "#control-design",
        "Design",
        "Designs the controller and shows its charts and margins.",
        "control.js",
    ),
    Control(
        "#control-unsure",
        "Uncertain",
        "Chooses what is uncertain in the search for the worst case.",
        "control.js",
    ),
    Control("#control-percent", "Up to [%]", "Sets how far it may be off, in percent.", "control.js"),
)
BUILD = (
    Control("#parts .quiet", "+ at a kind of part", "Adds a part of this kind; a body comes with its joint.", "build.js"),
    Control("#parts .entry", "Parts", "Shows the form of a part; the number says how many mistakes it has.", "build.js"),
    Control("#undo, #redo", "Undo, Redo", "Takes the last change back, or does it again.", "build.js"),
    Control("#download", "Download", "Keeps the text as a file of this browser.", "build.js"),
    Control("#save", "Save", "Writes the file that the program was started with.", "build.js"),
    Control("#run, #seconds", "Let go", "Simulates the mechanism with its components from the position that is shown, commands zero, and plays it with plots.", "build.js"),
    Control("#back-to-building", "Back to building", "Shows the forms again.", "build.js"),
    Control("#part-name", "Name", "Renames the part, wherever the file refers to it.", "build.js"),
    Control("#remove", "Delete", "Deletes the part; a body takes the joint that carries it along.", "build.js"),
    Control(".drag button", "Drag in the picture", "Puts arrows into the view that move the part, or rings that turn its axis.", "build.js"),
    Control(".field input, .field select, .field textarea", "Keys", "Sets a key of the part, with a unit if you like; emptied, the key is taken out.", "build.js"),
    Control("#new-parameter, #new-value, .field + .buttons button", "Parameters", "Adds a named number that other numbers may refer to.", "build.js"),
    Control("#form summary", "more keys", "Shows the keys that the part could have, too.", "build.js"),
    Control("#sheet summary, #toml", "Text", "Holds the lines of the file; they are checked while you type.", "build.js"),
    Control("#remarks button", "Mistakes", "Leads to the part and the line of a mistake.", "build.js"),
)  # fmt: skip
CONTROLS = (*PLAYER, *LIVE, *BUILD)


def entries(scripts: tuple[str, ...]) -> list[list[str]]:
    """Return selector, name and sentence of every control of a page that has some scripts."""
    return [[c.at, c.name, c.text] for c in CONTROLS if c.page in scripts]


def control_table(controls: tuple[Control, ...]) -> str:
    """Return the Markdown table of controls of the page `docs/browser.md`."""
    rows = [f"| {c.name.replace('|', chr(92) + '|')} | {c.text} |" for c in controls]
    return "\n".join(["| control | what it does |", "|---|---|", *rows])
