"""Environments beside Gymnasium's own checks, and beside `simulate`."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, UnsupportedOperation

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

from articulus.bridges.gym import (  # noqa: E402
    IDS,
    film,
    make,
    make_vec,
    of_arrays,
    registered,
)


@pytest.fixture(scope="module")
def cart() -> registered.GymTask:
    return registered.cart_pole()


@pytest.mark.parametrize("name", IDS)
def test_ids_pass_the_checks_of_gymnasium(name: str) -> None:
    env = gymnasium.make(name, render_mode="rgb_array").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends actions between -1 and 1 and bounded observations
        check_env(env, skip_render_check=True)
    env.reset(seed=3)
    rewards = [env.step(env.action_space.sample())[1] for _ in range(5)]
    assert np.isfinite(rewards).all()


def test_moves_are_those_of_simulate(cart: registered.GymTask) -> None:
    """Held commands over ten moves end where one run with the same force ends."""
    env = make(cart.loop, step=0.005, frames=4, observations=("q", "v"), q0=(0, np.pi), method="rk4")
    env.reset(seed=0)
    for _ in range(10):
        seen, *_ = env.step([3.0])
    force = ca.Function("force", [ca.SX.sym("t")], [ca.SX(3.0)], ["t"], ["u"])
    run = art.Loop(cart.loop.mechanism, force, cart.loop.components).simulate(
        0.2, (0, np.pi), step=0.005, method="rk4"
    )
    assert np.allclose(seen, np.concatenate([run.q[-1], run.v[-1]]), rtol=1e-13, atol=1e-14)


def test_lanes_do_not_know_of_each_other(cart: registered.GymTask) -> None:
    """A lane among many with the seed of a single environment plays the same game, to the last bit but that of vector width."""
    many = make_vec(cart, 5)
    one = make(cart)
    seen, _ = many.reset(seed=[11, 12, 13, 14, 15])
    single = make_vec(cart, 1)
    alone, _ = single.reset(seed=[13])
    assert np.array_equal(seen[2], alone[0])
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions = rng.uniform(-10, 10, (5, 1))
        seen, reward, *_ = many.step(actions)
        alone, own, *_ = single.step(actions[2:3])
        assert np.array_equal(seen[2], alone[0])
        assert reward[2] == own[0]
    assert one.observation_space == many.single_observation_space


def hopping(mode: str, lanes: int = 6):
    return make_vec(registered.hopper(), lanes, autoreset_mode=mode)


def test_next_step_autoreset() -> None:
    """After the end a call of `step` begins a new game: its reward is 0 and its action counts for nothing."""
    env = hopping("NextStep")
    env.reset(seed=0)
    over = np.zeros(6, bool)
    for _ in range(150):
        seen, reward, ends, cut, _ = env.step(np.full((6, 2), 40.0))
        assert (reward[over] == 0).all()
        assert not ends[over].any()
        if over.any():
            assert (np.abs(seen[over][:, 0] - 0.59) < 0.02).all()
        over = ends | cut
        if ends.any():
            break
    assert over.any()
    seen, *_ = env.step(np.full((6, 2), 40.0))
    assert (np.abs(seen[over][:, 0] - 0.59) < 0.02).all()


def test_same_step_autoreset_and_disabled() -> None:
    env = hopping("SameStep")
    env.reset(seed=0)
    for _ in range(150):
        seen, _, ends, _, info = env.step(np.full((6, 2), 40.0))
        if ends.any():
            break
    first = int(np.flatnonzero(ends)[0])
    assert info["_final_obs"][first]
    assert info["final_obs"][first].shape == seen[first].shape
    assert abs(seen[first][0] - 0.59) < 0.02
    assert abs(info["final_obs"][first][0] - 0.59) > 0.02
    env = hopping("Disabled")
    env.reset(seed=0)
    for _ in range(150):
        _, _, ends, _, _ = env.step(np.full((6, 2), 40.0))
        if ends.any():
            break
    with pytest.raises(InputError, match="reset_mask"):
        env.step(np.zeros((6, 2)))
    env.reset(options={"reset_mask": ends})
    env.step(np.zeros((6, 2)))


def test_parameters_are_drawn_for_every_game() -> None:
    task = registered.reacher()
    env = make_vec(task, 4)
    env.reset(seed=0)
    first = env.lanes.p.copy()
    assert len(np.unique(first, axis=0)) == 4
    names = [e.name for e in task.stepped.parameters]
    drawn = first[:, [2 + task.stepped.parameters[names.index(n)].place for n in ("goal_x", "goal_y")]]
    assert (np.abs(drawn) <= 0.6).all()
    env.reset(seed=0)
    assert np.array_equal(env.lanes.p, first)


def test_rewards_of_arrays_are_those_of_expressions(cart: registered.GymTask) -> None:
    def reward(s: dict) -> np.ndarray:
        return (
            np.cos(s["q"][:, 1])
            - 0.1 * s["q"][:, 0] ** 2
            + s["q"][:, 0]
            - s["before.q"][:, 0]
            - s["action"][:, 0]
        )

    given = {"step": 0.005, "frames": 4, "q0": (0, np.pi), "noise": 0.1, "method": "rk4"}
    in_python = make_vec(cart.loop, 3, reward=of_arrays(reward, "q", "before.q"), **given)
    native = make_vec(
        cart.loop, 3,
        reward=lambda s: ca.cos(s["q.hinge"]) - 0.1 * s["q.slide"] ** 2 + s["q.slide"] - s.before["q.slide"] - s.action[0], **given,
    )  # fmt: skip
    for env in (in_python, native):
        env.reset(seed=5)
    for _ in range(5):
        a, b = (env.step(np.full((3, 1), 2.0))[1] for env in (in_python, native))
        assert np.allclose(a, b, rtol=1e-13, atol=1e-14)


def test_pictures(cart: registered.GymTask) -> None:
    env = make(cart, render_mode="rgb_array")
    env.reset(seed=0)
    shown = env.render()
    assert shown.dtype == np.uint8
    assert shown.shape[2] == 3
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 5


@pytest.mark.filterwarnings("ignore:half_cheetah.xml. MuJoCo says")
def test_files_play_with_their_contacts() -> None:
    pytest.importorskip("mujoco")
    assets = gymnasium.__path__[0] + "/envs/mujoco/assets/"
    cheetah = art.load(assets + "half_cheetah.xml")
    env = make_vec(cheetah, 8, step=1e-3, frames=50, noise=0.1, terminated=[lambda s: s["q"][1] < -2])
    env.reset(seed=0)
    assert np.allclose(env.single_action_space.high, 1.0)
    for _ in range(20):
        seen, _, over, _, info = env.step(np.zeros((8, 6)))
    assert not over.any()
    assert "failed" not in info
    assert (seen[:, 1] > -0.5).all()  # it lies on the floor


def test_what_cannot_be_played_is_named(cart: registered.GymTask) -> None:
    loop = cart.loop
    with pytest.raises(InputError, match="no signal 'nose'"):
        make(loop, observations=("nose",))
    with pytest.raises(InputError, match="no command 'pull'"):
        make(loop, actions=("pull",))
    with pytest.raises(InputError, match="no parameter 'mass'"):
        make(loop, randomize={"mass": (1, 2)}).reset()
    with pytest.raises(InputError, match="expected CasADi operations"):
        make(loop, reward=lambda s: {"reward": s["q"]})
    with pytest.raises(InputError, match="expected one"):
        make(loop, reward=lambda s: s["q"])
    with pytest.raises(UnsupportedOperation, match="Python function"):
        make(art.Loop(loop.mechanism, lambda t, q, v: [0.0, 0.0]))
    with pytest.raises(InputError, match="no bounds of"):
        make(art.Loop(loop.mechanism))
    with pytest.raises(InputError, match="render_mode"):
        make(loop, render_mode="human")
    with pytest.raises(InputError, match="seeds"):
        make_vec(cart, 3).reset(seed=[1, 2])
    held = art.components.PD(kp=(1, 1), kd=(1, 1), target=(0, 0), period=0.003)
    with pytest.raises(InputError, match="moves of whole periods"):
        make(art.Loop(art.load("two_link"), held), step=0.001, frames=4, bounds=(-1, 1))


def test_moves_before_a_game_and_of_wrong_shape_are_refused(cart: registered.GymTask) -> None:
    """A game that has not begun has no state; an action of another shape is never spread over lanes or motors."""
    env, many = make(cart), make_vec(cart, 3)
    for move in (lambda: env.step([0.0]), lambda: many.step(np.zeros((3, 1)))):
        with pytest.raises(InputError, match="reset"):
            move()
    env.reset(seed=0)
    many.reset(seed=0)
    for move in (
        lambda: env.step(1.0),
        lambda: env.step([1.0, 2.0]),
        lambda: many.step(np.zeros(1)),
        lambda: many.step(np.zeros((1, 1))),
    ):
        with pytest.raises(InputError, match=r"expected \(lanes, actions\)"):
            move()
    with pytest.raises(InputError, match="reset_mask"):
        many.reset(options={"reset_mask": np.ones(4, dtype=bool)})


def test_a_failed_game_is_told_once() -> None:
    """A lane that fails says so with that move and not with the next, in which it only begins anew."""
    many = make_vec(art.load("two_link"), 2, bounds=(-1.0, 1.0))
    many.reset(seed=0)
    *_, info = many.step(np.array([[np.nan, 0.0], [0.0, 0.0]]))
    assert info["failed"].tolist() == [True, False]
    *_, info = many.step(np.zeros((2, 2)))
    assert "failed" not in info


@pytest.mark.parametrize(
    "wrong", [{"bounds": (1.0, -1.0)}, {"bounds": ([1, 1, 1], [2, 2, 2])}, {"frames": 1.5}, {"time_limit": 0}]
)
def test_wrong_tasks_are_refused_with_the_field(wrong: dict) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        make(art.load("two_link"), **{"bounds": (-1.0, 1.0)} | wrong)


def test_a_film_of_a_game(tmp_path) -> None:
    """As many pictures as the game has at 25 a second, and the rewards of the same game played by hand."""
    env = gymnasium.make("articulus/CartPole-v0")
    push = np.full(env.action_space.shape, 0.1)
    gained = film(env, lambda seen: push, tmp_path / "game.png", seed=3, max_moves=6)
    data = (tmp_path / "game.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    duration = env.unwrapped.task.duration
    assert data.count(b"fcTL") == len(range(0, 7, max(1, round(1 / (25 * duration)))))
    env.reset(seed=3)
    assert gained == pytest.approx(sum(env.step(push)[1] for _ in range(6)), rel=1e-12)
    for given in ({"path": tmp_path / "game.gif"}, {"path": tmp_path / "g.png", "max_moves": 0}):
        with pytest.raises(InputError, match="film"):
            film(env, lambda seen: push, **given)
    with pytest.raises(InputError, match="one environment of ours"):
        film(object(), lambda seen: push, tmp_path / "g.png")
