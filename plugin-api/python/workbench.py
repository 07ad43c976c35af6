"""An objective in Python: a decorated function that `host` evaluates.

One file, nothing but the standard library, Python 3.9 or newer. Copy it beside your script::

    from workbench import Infeasible, objective

    @objective(variables={"solvent": ["water", "ethanol"], "heated": [False, True]}, sense="maximize")
    def brew(solvent, heated):
        if solvent == "ethanol" and heated:
            raise Infeasible("it burns")
        return 2.0 if heated else 1.0

    if __name__ == "__main__":
        brew.serve()

A manifest then needs no more than ``benchmark: { use: command, options: { run: [python3, brew.py] } }``. To try the
function by hand: ``python3 brew.py --solvent=water --heated=true`` prints its value.
"""

import inspect
import json
import math
import os
import subprocess
import sys
import traceback

#: The version of the protocol between the benchmark `command` and a program.
PROTOCOL = 1

#: In the environment where the host has started the program, and reads its standard output.
STARTED = "HOST_PROTOCOL"


class Infeasible(Exception):
    """Raise it from an objective for a point that has no value and never will; its words are the reason."""


class WrongDeclaration(ValueError):
    """What `@objective` says cannot be; where nobody catches it, one line tells so."""


def objective(function=None, *, variables=None, ordered=(), sense=None, noisy=None):
    """Makes a function an objective.

    variables: for each parameter its levels, ``{"layers": [1, 2, 3]}``; left out, the manifest has them.
    ordered: names of the variables whose levels stand in an order.
    sense: "minimize" or "maximize"; left out, the manifest's, or "minimize".
    noisy: whether a point has another value each time.

    The function is called with the level of each variable by name. Where it has a parameter `seed` that is no variable, it
    gets a whole number there: the same seed has to give the same value.
    """
    if function is None:
        return lambda function: Objective(function, variables, ordered, sense, noisy)
    return Objective(function, variables, ordered, sense, noisy)


class Objective:
    """A function that can be called as before, and served to the host."""

    def __init__(self, function, variables=None, ordered=(), sense=None, noisy=None):
        def wrong(words):
            return WrongDeclaration(f"{_definition(function)}{words}")

        if sense not in (None, "minimize", "maximize"):
            raise wrong(f"sense is 'minimize' or 'maximize', not {sense!r}")
        if isinstance(ordered, str):
            raise wrong("ordered is a list of names")
        unknown = [name for name in ordered if variables is not None and name not in variables]
        if unknown:
            raise wrong(f"ordered names {unknown[0]!r}, which is no variable")
        if variables is not None and not isinstance(variables, dict):
            raise wrong('variables has the levels of each by name, such as {"layers": [1, 2, 3]}')
        self.function = function
        self.variables = None if variables is None else {name: list(of) for name, of in variables.items()}
        self.ordered, self.sense, self.noisy = list(ordered), sense, noisy
        self.__doc__, self.__name__ = function.__doc__, getattr(function, "__name__", "objective")
        parameters = inspect.signature(function).parameters
        self._takes_seed = "seed" in parameters and "seed" not in (variables or {})
        any_name = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        for name in self.variables or {}:
            if name not in parameters and not any_name:
                raise wrong(f"{self.__name__}() has no parameter {name!r} for the variable of that name")
        for name, one in parameters.items():
            needed = one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
            if self.variables is not None and needed and name not in self.variables and name != "seed":
                raise wrong(f"{self.__name__}() has a parameter {name!r}, which is no variable")

    def __call__(self, *arguments, **levels):
        return self.function(*arguments, **levels)

    def evaluate(self, point, seed=0):
        """How the evaluation of a point ends, as the host reads it: {"value": …}, {"infeasible": …} or {"error": …}."""
        try:
            more = {"seed": seed} if self._takes_seed and "seed" not in point else {}
            answer = self.function(**point, **more)
        except Infeasible as reason:
            return {"infeasible": str(reason) or "it said no more"}
        except Exception as error:  # whatever it is, the trial goes on with another point
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}{_place(error, self.function)}"}
        try:
            # True and False would be 1 and 0, which nobody means.
            value = None if type(answer).__name__ in ("bool", "bool_") else float(answer)
        except (TypeError, ValueError):
            value = None
        if value is None:
            return {"error": f"the function returned {repr(answer)[:80]}, not a number"}
        if not math.isfinite(value):
            return {"error": f"the value is {value}"}
        return {"value": value}

    def hello(self):
        """What the host is told first."""
        hello = {"hello": PROTOCOL}
        if self.variables is not None:
            hello["variables"] = self.variables
            hello["ordered"] = self.ordered
        if self.sense is not None:
            hello["sense"] = self.sense
        if self.noisy is not None:
            hello["deterministic"] = not self.noisy
        return hello

    def serve(self, arguments=None):
        """Answers the host's requests until there are no more.

        Where the arguments name a level for a variable (``--layers=2``), that one point is evaluated instead, and its value
        is printed: for trying the function by hand.
        """
        arguments = sys.argv[1:] if arguments is None else arguments
        point = self._point_of(arguments)
        if point is not None:
            return _show(self.evaluate(point))
        if sys.stdin.isatty():
            sys.exit(f"{self.__name__} is an objective: a manifest runs it with `use: command`.\n{self._usage()}")
        answers = _take_output()
        for line in sys.stdin:
            if not line.strip():
                continue
            request = json.loads(line)
            if "hello" in request:
                if request["hello"] != PROTOCOL:
                    sys.exit(f"this program speaks version {PROTOCOL} of the protocol, and the host {request['hello']}")
                answer = self.hello()
            else:
                answer = self.evaluate(request["point"], request.get("seed", 0))
            answers.write(json.dumps(answer) + "\n")
            answers.flush()

    def _point_of(self, arguments):
        """The point that arguments spell; None where they speak of other things."""
        pairs = [word[2:].split("=", 1) for word in arguments if word.startswith("--") and "=" in word]
        if self.variables is None:
            return {name: _level(text) for name, text in pairs} or None
        given = {name: text for name, text in pairs if name in self.variables}
        if not given:
            return None
        point = {}
        for name, levels in self.variables.items():
            if name not in given:
                sys.exit(f"no level for {name!r}.\n{self._usage()}")
            known = {_text(level): level for level in levels}
            if given[name] not in known:
                sys.exit(f"{given[name]!r} is no level of {name!r}, which has {', '.join(known)}")
            point[name] = known[given[name]]
        return point

    def _usage(self):
        words = [f"--{name}={_text(levels[0])}" for name, levels in (self.variables or {"NAME": ["LEVEL"]}).items()]
        return f"To try it: {os.path.basename(sys.argv[0])} {' '.join(words)}"


_answers = None


def _take_output():
    """The standard output for answers alone: what the program prints goes to the error output from here on."""
    global _answers
    if _answers is None:
        sys.stdout.flush()
        _answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
    return _answers


# What is printed while a script loads its data is no answer. Programs that it starts are not the host's.
if os.environ.pop(STARTED, None):
    _take_output()


def _definition(function):
    """Where a function is: `brew.py, line 4: `."""
    code = getattr(function, "__code__", None)
    return f"{os.path.basename(code.co_filename)}, line {code.co_firstlineno}: " if code else ""


def _place(error, function):
    """Where it was raised: the last line of the function's own file, or else the last of all."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    code = getattr(function, "__code__", None)
    own = [frame for frame in frames if code and frame[0] == code.co_filename]
    # Called with what it does not take, it has no line of its own.
    own = own or ([(code.co_filename, code.co_firstlineno)] if code else frames)
    return f" ({os.path.basename(own[-1][0])}, line {own[-1][1]})" if own else ""


def _told_briefly(kind, error, trace, others=sys.excepthook):
    """A mistake in a declaration in one line: where it is in the script, and none of this file."""
    if isinstance(error, WrongDeclaration):
        print(error, file=sys.stderr)
    else:
        others(kind, error, trace)


sys.excepthook = _told_briefly


def _show(answer):
    if "value" in answer:
        return print(answer["value"])
    if "infeasible" in answer:
        return print(f"infeasible: {answer['infeasible']}")
    sys.exit(f"failed: {answer['error']}")


def _text(level):
    """A level as a manifest and the host write it."""
    return level if isinstance(level, str) else json.dumps(level)


def _level(text):
    """A level from its text: a number or a truth value where it is one, else a word."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class Asked:
    """A point to be evaluated: its number, and the level of each variable by name."""

    def __init__(self, evaluation, point):
        self.evaluation = evaluation
        self.point = {name: _level(level) for name, level in point.items()}

    def __repr__(self):
        return f"Asked({self.evaluation}, {self.point})"


class Study:
    """An experiment whose points are evaluated here, in a loop of your own::

        study = Study("lab.yaml")
        for _ in range(30):
            asked = study.ask()[0]
            study.tell(asked, value=measure(**asked.point))

    Everything is on disk in the run's folder: a script that is started again goes on where it was, and `pending` has what
    was asked for and not told.
    """

    def __init__(self, manifest, run_id="lab", output="results", host="host", options=()):
        """The run of a manifest, or that of a folder that `host ask` has made.

        host: the program, such as "target/release/host". options: more arguments for it, such as ["--plugin-dir", "mine"].
        """
        self._host, self._options = host, list(options)
        if os.path.isdir(manifest):
            self.folder, self._begin = manifest, None
        else:
            self.folder = None
            self._begin = [manifest, "--run-id", run_id, "--output", output]

    def ask(self, count=1):
        """The next points, as a list of `Asked`; shorter where no more are left."""
        where = [self.folder] if self.folder else self._begin
        answer = json.loads(self._call("ask", *where, "-n", str(count), "--format", "json", may_fail=True))
        self.folder = answer["folder"]
        return [Asked(point["evaluation"], point["point"]) for point in answer["asked"]]

    def tell(self, asked, value=None, infeasible=None, failed=None):
        """What an evaluation gave: a value, or why the point is infeasible, or why it failed.

        asked: an `Asked`, its number, or the point as a dictionary, whether it was asked for or not.
        """
        results = {"value": value, "infeasible": infeasible, "failed": failed}
        result = {name: told for name, told in results.items() if told is not None}
        if len(result) != 1:
            raise ValueError("an evaluation has a value, or is infeasible, or failed")
        if value is not None and not math.isfinite(value):
            raise ValueError(f"the value is {value}; tell `failed` where there is none")
        if isinstance(asked, dict):
            result["point"] = {name: _text(level) for name, level in asked.items()}
        else:
            result["evaluation"] = getattr(asked, "evaluation", asked)
        if self.folder is None:
            raise ValueError("nothing was asked yet; a Study of the run's folder can be told at once")
        self._call("tell", self.folder, "-", text=json.dumps(result))

    @property
    def pending(self):
        """The points that were asked for and not told."""
        if self.folder is None:
            return []
        trials = json.loads(self._call("status", self.folder, "--json", plugins=False))
        return [Asked(point["evaluation"], point["point"]) for trial in trials for point in trial["pending"]]

    def _call(self, command, *arguments, text="", may_fail=False, plugins=True):
        options = self._options if plugins else []
        called = [self._host, command, *arguments, *options]
        ended = subprocess.run(called, input=text, capture_output=True, text=True, encoding="utf-8", check=False)
        # With 1, fewer points are left than were asked for.
        if ended.returncode not in ((0, 1) if may_fail else (0,)):
            raise RuntimeError(ended.stderr.strip() or f"{command} ended with {ended.returncode}")
        return ended.stdout
