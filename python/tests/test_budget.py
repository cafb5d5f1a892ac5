"""The plugin of pytest: budgets that hold, budgets that do not, and tests without a profile."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_a_budget_that_holds_passes(pytester: pytest.Pytester, sample: Path) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.roofline_budget("nvjet_tst_128x256*", at_least=0.5)
        def test_products():
            pass

        def test_all(roofline_budget):
            roofline_budget("nvjet_tst_128x256*", at_least=0.5)
        """
    )
    result = pytester.runpytest(f"--roofline-profile={sample}", "--strict-markers")
    result.assert_outcomes(passed=2)


def test_a_budget_that_is_exceeded_fails_with_its_numbers(pytester: pytest.Pytester, sample: Path) -> None:
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.roofline_budget("transpose", at_least=0.6, profile={str(sample)!r})
        def test_transpose():
            raise SystemError("a test whose budget is exceeded does not run")

        def test_renamed(roofline_budget):
            roofline_budget("no_such_kernel", at_least=0.6, profile={str(sample)!r})
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=2)
    # 0.32 ms of 1.88 ms, as the report has it.
    result.stdout.fnmatch_lines(
        [
            "*transpose_naive_kernel<bf16>: 17.0% of its roofline, at least 60% is required "
            "(measured 1.88 ms, roofline 320 µs, 4 launches)",
            "*no kernel is called *no_such_kernel*",
        ]
    )


def test_a_kernel_without_a_roofline_is_no_pass(pytester: pytest.Pytester, sample: Path) -> None:
    pytester.makepyfile(
        f"""
        def test_copy(roofline_budget):
            roofline_budget("vectorized_elementwise_kernel<fill*", at_least=0.1, profile={str(sample)!r})
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["vectorized*: no roofline to compare with (*), at least 10% is required"])


def test_a_baseline_holds_the_time_of_a_launch(pytester: pytest.Pytester, here: Path) -> None:
    path = pytester.makepyfile(
        """
        import pytest

        @pytest.mark.roofline_budget("softmax", at_most_slower=0.30)
        def test_allowed():
            pass

        @pytest.mark.roofline_budget("softmax", at_most_slower=0.05)
        def test_not_allowed():
            pass
        """
    )
    result = pytester.runpytest(
        path, f"--roofline-profile={here / 'run.csv'}", f"--roofline-baseline={here / 'main.csv'}"
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*softmax: +25.0% per launch, at most +5.0% is allowed (baseline 6*, now 8*"])


def test_without_a_profile_a_test_is_skipped(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nroofline_profile = not-recorded.csv\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.roofline_budget("attention", at_least=0.6)
        def test_marked():
            pass

        def test_fixture(roofline_budget):
            roofline_budget("attention", at_most_slower=0.1, profile="none.csv")
        """
    )
    result = pytester.runpytest("-rs")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*no profile: not-recorded.csv does not exist*"])


def test_a_budget_without_a_limit_is_an_error(pytester: pytest.Pytester, sample: Path) -> None:
    pytester.makepyfile(
        f"""
        def test_nothing(roofline_budget):
            roofline_budget("nvjet*", profile={str(sample)!r})
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*roofline_budget needs at_least=0.6 or at_most_slower=0.05*"])


def test_budgets_are_checked_on_what_is_there(pytester: pytest.Pytester, here: Path) -> None:
    pytester.makepyfile(
        f"""
        import os, shutil
        import pytest, rooflint

        os.chdir({str(here)!r})

        def budget_of(roofline_budget, profile, **more):
            roofline_budget("softmax", profile=os.path.abspath(profile), **more)

        def test_first(roofline_budget):
            shutil.copy("main.csv", "rec.csv")
            budget_of(roofline_budget, "rec.csv", at_most_slower=0.05, baseline=os.path.abspath("main.csv"))

        def test_written_anew(roofline_budget):
            shutil.copy("run.csv", "rec.csv")
            os.utime("rec.csv", (1, 1))
            budget_of(roofline_budget, "rec.csv", at_most_slower=0.05, baseline=os.path.abspath("main.csv"))

        def test_no_baseline(roofline_budget):
            budget_of(roofline_budget, "run.csv", at_least=0.99, at_most_slower=0.1)

        def test_a_pattern(roofline_budget):
            budget_of(roofline_budget, "ru*.csv", at_least=0.99)

        def test_other_gpus(roofline_budget):
            profiles = rooflint.analyze("run.csv", "H200"), rooflint.analyze("main.csv", "A100 SXM4 80GB")
            roofline_budget("softmax", at_most_slower=0.5, profile=profiles[0], baseline=profiles[1])

        def test_no_share(roofline_budget):
            for wrong in (0, -5, 60, float("nan"), "0.6"):
                with pytest.raises(pytest.UsageError, match="at_least is a share"):
                    budget_of(roofline_budget, "run.csv", at_least=wrong)
        """
    )
    result = pytester.runpytest(pytester.path)
    result.assert_outcomes(passed=2, failed=4)
    result.stdout.fnmatch_lines(["*softmax: +2?.?% per launch*", "*cannot be compared*"])
