"""Events: what the ROCm runtime sleeps on. A wake-up that is lost is a hang."""

from __future__ import annotations

import random
import threading

import pytest

from tests.kfd import software_kfd as kfd


def test_random_requests_against_a_model() -> None:
    """set, reset and waits that do not sleep, of events that reset themselves or do not."""
    rng = random.Random(1)
    events = {kfd.event(auto): auto for auto in (True, False, True, False)}
    is_set, age = dict.fromkeys(events, False), dict.fromkeys(events, 1)
    for _ in range(400):
        some = rng.sample(list(events), rng.randint(1, 3))
        if (action := rng.random()) < 0.4:
            kfd.request("set_event", "II", some[0], 0)
            is_set[some[0]], age[some[0]] = True, age[some[0]] + 1
        elif action < 0.5:
            kfd.request("reset_event", "II", some[0], 0)
            is_set[some[0]] = False
        else:
            everything, known = rng.random() < 0.5, [rng.choice([0, age[e], age[e] - 1 or 1]) for e in some]
            released = [is_set[e] or bool(k and k != age[e]) for e, k in zip(some, known, strict=True)]
            done, words = kfd.wait(some, everything, 0, known)
            assert done == (all(released) if everything else any(released))
            for e, k, was, word in zip(some, known, released, words, strict=True):
                assert word[0] == (age[e] if was and k else k)
                is_set[e] &= not events[e]
    for e in events:
        kfd.request("destroy_event", "II", e, 0)
        with pytest.raises(OSError, match="Invalid argument"):
            kfd.wait([e])


def test_all_that_wait_are_released_at_once() -> None:
    one, other = kfd.event(), kfd.event()
    results: list[bool] = []
    waits = [[one], [one], [other, one]]
    threads = [threading.Thread(target=lambda w=w: results.append(kfd.wait(w, False, 20000)[0])) for w in waits]
    for thread in threads:
        thread.start()
    while len(results) < 3:  # those that come late see no event that is set: then once more
        kfd.request("set_event", "II", one, 0)
        for thread in threads:
            thread.join(0.05)
    assert results == [True] * 3


def test_a_setting_before_the_wait_is_not_lost() -> None:
    """Two threads wait for one event that resets itself: the second one knows by its age that it was set."""
    event = kfd.event()
    _, [(age, *_)] = kfd.wait([event], ages=[1])
    kfd.request("set_event", "II", event, 0)
    assert kfd.wait([event])[0]
    assert not kfd.wait([event])[0]
    assert kfd.wait([event], milliseconds=20000, ages=[age])[0]


def test_the_end_of_an_event_ends_the_wait() -> None:
    event = kfd.event()
    errors: list[str] = []

    def sleep() -> None:
        try:
            kfd.wait([event], milliseconds=0xFFFFFFFF)
        except OSError as error:
            errors.append(error.strerror)

    thread = threading.Thread(target=sleep)
    thread.start()
    thread.join(0.1)
    kfd.request("destroy_event", "II", event, 0)
    thread.join(20)
    assert len(errors) == 1
