import Foundation
import SharedTesting
import XCTest

/// `check`, and `record --check`, with the recording of the kitchen that is in the documents.
final class CheckTests: XCTestCase {
    /// Runs shell lines in a directory of their own with the recording.
    private func shell(_ lines: String) throws -> Shell.Outcome {
        try Shell.inDirectory(
            """
            cp '\(Repository.root.path)/Sources/DeliveryRecording/DeliveryRecording.docc/kitchen.jsonl' notifications.jsonl
            echo 'OrderPlaced on thread cook # he has the stove' > good.txt
            echo 'DishReady on thread cook' > bad.txt
            \(lines)
            """)
    }

    func testTheRulesOfFilesAndOptionsAreCheckedInOrderAndTheStatusTellsWhetherAllHold() throws {
        let outcome = try shell(
            """
            notify-demo check --rule 'DishReady on main' --rules good.txt; echo $?
            notify-demo check notifications.jsonl --rule 'no handler on main longer than 16 ms' | tail -n 1
            echo 'every post observed' | notify-demo check --rules -; echo $?
            notify-demo check - --rule 'no observer left at exit' < notifications.jsonl > text; echo $?
            """)
        XCTAssertEqual(
            outcome.output,
            """
            ok      OrderPlaced on thread cook: 6 handlers
            ok      DishReady on main: 6 handlers
            2 passed, 0 failed
            0
            0 passed, 1 failed
            ok      every post observed: 12 posts
            1 passed, 0 failed
            0
            1

            """)
        XCTAssertEqual(outcome.errors, "")
    }

    func testRulesThatCannotBeReadAre64WithTheirPlacesAFileThatCannotBeReadOrWrittenIs2AndAFailedRuleIs1() throws {
        let outcome = try shell(
            """
            printf 'no finding\\nDishReady onn main\\nno handlr\\n' > rules.txt; : > empty.txt
            for a in "--rules rules.txt" "--rules empty.txt" "--rules /nonexistent" "--rules good.txt --rules /" \
            "/nonexistent --rules good.txt" "--rules bad.txt --junit /dev/full" "--rules bad.txt --sarif /nonexistent/a"
            do notify-demo check $a 2>&1 > text | grep -o '^notify-demo: .*' | cut -d . -f 1-2; echo ${PIPESTATUS[0]}; done
            notify-demo record --check rules.txt -- touch made 2> errors; echo $?; ls made 2> errors
            """)
        XCTAssertEqual(
            outcome.output,
            """
            notify-demo: rules.txt:2: "DishReady onn main" is not a rule
            64
            notify-demo: empty.txt: has no rule
            64
            notify-demo: /nonexistent: cannot be opened: No such file or directory.
            2
            notify-demo: /: cannot be read: Is a directory.
            2
            notify-demo: /nonexistent: cannot be opened: No such file or directory.
            2
            notify-demo: cannot write /dev/full: No space left on device.
            2
            notify-demo: cannot write /nonexistent/a: No such file or directory.
            2
            64

            """)
    }

    func testAnIncompleteRecordingIsAFailedCaseInEachFormat() throws {
        let outcome = try shell(
            """
            sed 30d notifications.jsonl > missing
            for o in '' --json '--junit -' '--sarif -'; do notify-demo check missing --rule 'no handler longer than 1 h' \
            $o 2> errors | grep -c 'the recording is complete'; echo ${PIPESTATUS[0]}; done
            """)
        XCTAssertEqual(outcome.output, String(repeating: "1\n1\n", count: 4))
    }

    func testEachReportIsWrittenToItsFileOrAloneOnStandardOutput() throws {
        let outcome = try shell(
            """
            mkdir -p Sources/Examples/kitchen; touch Sources/Examples/kitchen/main.swift main.swift
            c() { notify-demo check --rules good.txt --rule 'DishReady on thread cook' "$@"; echo "status $?"; }
            c --json | grep -o '"failedCount":1'; c --junit - > one; c --sarif - > two; c --junit a --sarif b > /dev/null
            cat a b <(echo status 1) > other; sed '/^status 1/d' one two > same; echo status 1 >> same; cmp same other
            head -c 6 a; grep -o '<testsuite name="notifications.jsonl" tests="2" failures="1"' a
            grep -oE '"uri":"[^"]*main.swift"|"startLine":16' b | sort -u
            """)
        XCTAssertEqual(
            outcome.output,
            """
            "failedCount":1
            <?xml <testsuite name="notifications.jsonl" tests="2" failures="1"
            "startLine":16
            "uri":"Sources/Examples/kitchen/main.swift"

            """, outcome.errors)
    }

    func testRecordChecksTheRulesWhenTheProgramHasEndedAndItsStatusComesFirst() throws {
        let outcome = try shell(
            """
            r() { rules=$1; shift; notify-demo record -o run.jsonl --check $rules -- "$@" 2> errors; echo "status $?"
            grep -oE '.*handlers|recorded nothing' errors; }
            r good.txt kitchen; r bad.txt kitchen; r bad.txt sh -c 'kitchen; exit 3'; r good.txt true
            """)
        let dishes = "served 6 dishes, and the bell did not ring\n"
        let failed = "FAILED  DishReady on thread cook: 6 of 6 handlers\n"
        XCTAssertEqual(
            outcome.output,
            "\(dishes)status 0\nok      OrderPlaced on thread cook: 6 handlers\n\(dishes)status 1\n\(failed)"
                + "\(dishes)status 3\n\(failed)status 2\nrecorded nothing\n")
    }

    func testALineOfAcceptedFindingsThatAcceptsNothingIsReportedAndFailsIfThatIsAsked() throws {
        let outcome = try shell(
            """
            printf 'unmatchedName DishRedy\\nstalled\\n# old\\ndropped Gone\\n' > accepted.txt
            for o in '' --fail-unused; do
            notify-demo diagnose --strict --accept accepted.txt $o > found; echo $?
            notify-demo check --rule 'no finding' --accept accepted.txt $o > found; echo $?; done
            """)
        XCTAssertEqual(outcome.output, "0\n0\n1\n1\n", outcome.errors)
        let line = "notify-demo: accepted.txt:4: dropped Gone: the recording has no such finding\n"
        XCTAssertEqual(outcome.errors, String(repeating: line, count: 4))
    }
}
