"""Tests of workbench.py: `python3 -m unittest discover plugin-api/python`."""

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

from workbench import Infeasible, WrongDeclaration, objective

FOLDER = os.path.dirname(os.path.abspath(__file__))

BREW = """
    import os, subprocess, sys
    from workbench import Infeasible, objective

    @objective(variables={"solvent": ["water", "ethanol"], "heated": [False, True], "minutes": [1, 2.5]},
               ordered=["minutes"], sense="maximize", noisy=True)
    def brew(solvent, heated, minutes, seed):
        print("brewing")
        os.system("echo a child prints too")
        if solvent == "ethanol" and heated:
            raise Infeasible("it burns")
        if minutes == 1 and heated:
            raise RuntimeError("no heat")
        return minutes + seed

    if __name__ == "__main__":
        brew.serve()
"""


def run(script, requests="", arguments=(), **more):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(script))
        environment = {**os.environ, "PYTHONPATH": FOLDER}
        environment.update(more)
        return subprocess.run([sys.executable, path, *arguments], input=requests, env=environment,
                              capture_output=True, text=True, timeout=60, check=False)


class Served(unittest.TestCase):
    def answers(self, *requests):
        ended = run(BREW, "".join(json.dumps(request) + "\n" for request in requests))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return [json.loads(line) for line in ended.stdout.splitlines()], ended.stderr

    def test_the_hello_says_all_that_the_decorator_does(self):
        (hello,), _ = self.answers({"hello": 1, "seed": 3})
        self.assertEqual(hello, {
            "hello": 1, "ordered": ["minutes"], "sense": "maximize", "deterministic": False,
            "variables": {"solvent": ["water", "ethanol"], "heated": [False, True], "minutes": [1, 2.5]},
        })

    def test_an_evaluation_ends_as_a_value_infeasible_or_failed(self):
        def point(solvent, heated, minutes):
            return {"point": {"solvent": solvent, "heated": heated, "minutes": minutes}, "seed": 4}
        answers, said = self.answers(point("water", True, 2.5), point("ethanol", True, 2.5), point("water", True, 1))
        self.assertEqual(answers, [{"value": 6.5}, {"infeasible": "it burns"}, {"error": "RuntimeError: no heat (script.py, line 13)"}])
        self.assertIn("Traceback", said)

    def test_what_the_objective_and_its_children_print_is_no_answer(self):
        answers, said = self.answers({"point": {"solvent": "water", "heated": False, "minutes": 1}, "seed": 0})
        self.assertEqual(answers, [{"value": 1.0}])
        self.assertIn("brewing", said)
        self.assertIn("a child prints too", said)

    def test_what_a_script_prints_while_it_loads_is_no_answer_where_the_host_has_started_it(self):
        loading = """
            from workbench import objective
            print("loading")
            f = objective(lambda x: x)
            f.serve()
        """
        ended = run(loading, '{"hello": 1}\n', HOST_PROTOCOL="1")
        self.assertEqual((json.loads(ended.stdout), ended.stderr), ({"hello": 1}, "loading\n"))
        self.assertTrue(run(loading, '{"hello": 1}\n').stdout.startswith("loading\n"))

    def test_another_protocol_is_refused_in_words(self):
        ended = run(BREW, '{"hello": 2}\n')
        self.assertEqual(ended.returncode, 1)
        self.assertIn("version 1 of the protocol, and the host 2", ended.stderr)

    def test_a_point_of_the_command_line_is_evaluated_and_printed(self):
        words = ["--solvent=water", "--heated=false", "--minutes=2.5"]
        self.assertEqual(run(BREW, arguments=words).stdout.splitlines()[-1], "2.5")
        burning = run(BREW, arguments=["--solvent=ethanol", "--heated=true", "--minutes=1"])
        self.assertEqual(burning.stdout.splitlines()[-1], "infeasible: it burns")
        failing = run(BREW, arguments=["--solvent=water", "--heated=true", "--minutes=1"])
        self.assertEqual(failing.returncode, 1)
        self.assertIn("failed: RuntimeError: no heat", failing.stderr)
        for words, complaint in [(["--solvent=water"], "no level for 'heated'"),
                                 (["--solvent=oil", "--heated=true", "--minutes=1"], "'oil' is no level of 'solvent'")]:
            refused = run(BREW, arguments=words)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(complaint, refused.stderr)


class Decorated(unittest.TestCase):
    def test_the_function_is_what_it_was(self):
        @objective
        def double(x):
            """Twice."""
            return 2 * x

        self.assertEqual((double(4), double.__doc__, double.__name__), (8, "Twice.", "double"))
        self.assertEqual(double.hello(), {"hello": 1})
        self.assertEqual(double.evaluate({"x": 2}), {"value": 4.0})

    def test_values_that_are_no_numbers_are_failures(self):
        with contextlib.redirect_stderr(io.StringIO()):
            for value, words in [(float("nan"), "the value is nan"), (float("inf"), "the value is inf"),
                                 ("much", "the function returned 'much', not a number"),
                                 (None, "the function returned None, not a number"),
                                 (True, "the function returned True, not a number"),
                                 ([1, 2], "the function returned [1, 2], not a number")]:
                answer = objective(lambda x, value=value: value, variables={"x": [0, 1]}).evaluate({"x": 0})
                self.assertIn(words, answer["error"])

    def test_a_seed_is_given_where_it_is_asked_for_and_no_variable(self):
        self.assertEqual(objective(lambda x, seed: seed).evaluate({"x": 1}, 7), {"value": 7.0})
        of_its_own = objective(lambda seed: seed, variables={"seed": [1, 2]})
        self.assertEqual(of_its_own.evaluate({"seed": 2}, 7), {"value": 2.0})

    def test_declarations_that_cannot_work_are_refused(self):
        for keywords in [{"sense": "max"}, {"variables": {"y": [0, 1]}}, {"variables": {}}, {"variables": ["x"]},
                         {"variables": {"x": [0, 1]}, "ordered": ["y"]}, {"variables": {"x": [0, 1]}, "ordered": "x"}]:
            with self.assertRaises(WrongDeclaration):
                objective(lambda x: x, **keywords)

    def test_a_wrong_declaration_is_one_line_about_the_script(self):
        ended = run("""
            from workbench import objective

            @objective(variables={"x": [0, 1]}, sense="max")
            def f(x):
                return x
        """)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr, "script.py, line 4: sense is 'minimize' or 'maximize', not 'max'\n")

    def test_arguments_that_a_function_does_not_take_have_its_place(self):
        with contextlib.redirect_stderr(io.StringIO()):
            error = objective(lambda x: x).evaluate({"y": 1})["error"]
        self.assertRegex(error, r"^TypeError: .*'y'.* \(test_workbench.py, line \d+\)$")

    def test_no_reason_is_told_so(self):
        def no(**_):
            raise Infeasible
        self.assertEqual(objective(no).evaluate({"x": 1}), {"infeasible": "it said no more"})


class TheFile(unittest.TestCase):
    def test_it_has_no_syntax_beyond_python_3_9(self):
        with open(os.path.join(FOLDER, "workbench.py"), encoding="utf-8") as source:
            ast.parse(source.read(), feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
