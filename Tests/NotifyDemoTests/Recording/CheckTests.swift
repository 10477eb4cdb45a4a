import ChildProcesses
import Foundation
import SharedTesting
import XCTest

@testable import notify_demo

/// `check`, and `record --check`, with the recording of the kitchen that is in the documents.
final class CheckTests: XCTestCase {
    /// Runs shell lines in a directory of their own with the recording.
    private func shell(_ lines: String) throws -> Shell.Outcome {
        return try Shell.run(
            """
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            cp '\(Repository.root.path)/Sources/DeliveryRecording/DeliveryRecording.docc/kitchen.jsonl' notifications.jsonl
            echo 'OrderPlaced on thread cook # he has the stove' > good.txt
            echo 'DishReady on thread cook' > bad.txt
            \(lines)
            """)
    }

    private func object(_ text: some StringProtocol) throws -> [String: Any] {
        try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    func testTheRulesOfFilesAndOptionsAreCheckedInOrderAndTheStatusTellsWhetherAllHold() throws {
        let outcome = try shell(
            """
            notify-demo check --rule 'DishReady on main' --rules good.txt; echo $?
            notify-demo check notifications.jsonl --rule 'no handler on main longer than 16 ms' --rules good.txt; echo $?
            echo 'every post observed' | notify-demo check --rules -; echo $?
            notify-demo check - --rule 'no observer left at exit' < notifications.jsonl | tail -n 1
            """)
        XCTAssertEqual(
            outcome.output,
            """
            ok      OrderPlaced on thread cook: 6 handlers
            ok      DishReady on main: 6 handlers
            2 passed, 0 failed
            0
            ok      OrderPlaced on thread cook: 6 handlers
            FAILED  no handler on main longer than 16 ms: 1 of 6 handlers took longer, up to 40.2 ms
              observer 3 of DishReady took 40.2 ms on main
                notifications.jsonl:68 15.8 ms main deliver #12 DishReady observer 3; posted at kitchen/main.swift:12; \
            observed at kitchen/main.swift:16
                notifications.jsonl:78 56 ms main return #12 DishReady observer 3; posted at kitchen/main.swift:12; \
            observed at kitchen/main.swift:16
            1 passed, 1 failed
            1
            ok      every post observed: 12 posts
            1 passed, 0 failed
            0
            0 passed, 1 failed

            """)
        XCTAssertEqual(outcome.errors, "")
    }

    func testARuleThatCannotBeReadIs64WithItsPlaceAndAFileThatCannotBeReadIs2() throws {
        let outcome = try shell(
            """
            printf 'no finding\\nDishReady onn main\\n' > rules.txt; : > empty.txt
            for a in "--rules rules.txt" "--rules empty.txt" "--rules /nonexistent" "/nonexistent --rules good.txt" \
            "--rules good.txt --rules /"; do notify-demo check $a 2>&1 | head -n 1; echo ${PIPESTATUS[0]}; done
            notify-demo check --rule 'DishReady on' 2>&1 | head -n 1
            notify-demo record --check rules.txt -- touch made; echo $?; ls made
            """)
        XCTAssertEqual(
            outcome.output,
            """
            notify-demo: rules.txt:2:11: expected "on", "not on", "observed", "delivered", "within", "at most" or "before", found "onn". Did you mean "on"?
            64
            notify-demo: empty.txt: has no rule. Write one on each line: Saved on main
            64
            notify-demo: /nonexistent: cannot be read. Give a file of rules.
            2
            notify-demo: /nonexistent: cannot be opened: No such file or directory.
            2
            notify-demo: /: cannot be read. Give a file of rules.
            2
            Error: --rule "DishReady on":13: expected "main" or "thread", found the end of the rule.
            64

            """)
    }

    func testNoInputIsOverwrittenAndNoOutputIsWrittenTwice() throws {
        let outcome = try shell(
            """
            echo 'mainHeldUp' > accepted.txt
            for a in "--accept accepted.txt --sarif accepted.txt" "--junit out.xml --sarif ./out.xml"
            do notify-demo check --rules good.txt $a 2>&1 | head -n 1; done
            cat accepted.txt; ls out.xml 2>&1 | wc -l
            notify-demo record --check - -- true < good.txt 2>&1 | head -n 1
            """)
        XCTAssertEqual(
            outcome.output,
            """
            Error: --sarif would overwrite accepted.txt. Name another file.
            Error: --junit and --sarif name the same file.
            mainHeldUp
            1
            Error: standard input belongs to the program. Name a file for --check.

            """)
    }

    func testAnIncompleteRecordingIsAFailedCaseInEachFormatAndANoteIfItIsAllowed() throws {
        let outcome = try shell(
            """
            head -n 60 notifications.jsonl > truncated; sed 30d notifications.jsonl > missing
            sed '30s/.*/{/' notifications.jsonl > damaged; sed '30s/.*/{"n":26,"t":1,"thread":1,"stage":"lost","count":3}/' \
            notifications.jsonl > lost; head -n 1 notifications.jsonl > header; : > empty; echo > blank
            for f in truncated missing damaged lost header empty blank; do
            notify-demo check $f --rule 'no handler longer than 1 h' > text 2> errors; echo "$f $? $(grep -c . errors)"
            grep 'the recording is complete' text
            for format in --json '--junit -' '--sarif -'; do
            notify-demo check $f --rule 'no handler longer than 1 h' $format 2> /dev/null > text
            echo "$? $(grep -c 'the recording is complete' text)"; done
            notify-demo check $f --rule 'no handler longer than 1 h' --allow-incomplete > text 2> errors; echo "$?"
            grep -c 'the recording is complete' text; grep -c 'is incomplete' errors; done
            """)
        let formats = "1 1\n1 1\n1 1\n"
        func expected(_ file: String, _ problem: String, messages: Int, notes: Int = 1) -> String {
            "\(file) 1 \(messages)\nFAILED  the recording is complete: \(problem)\n\(formats)0\n0\n\(notes)\n"
        }
        XCTAssertEqual(
            outcome.output,
            expected("truncated", "there is no end record, so the last records may be missing", messages: 1)
                + expected("missing", "1 record is missing", messages: 2)
                + expected("damaged", "1 record is missing", messages: 3)
                + expected("lost", "3 records were lost", messages: 3)
                + expected("header", "it has no records", messages: 1)
                + expected("empty", "it has no records", messages: 1, notes: 0)
                + expected("blank", "it has no records", messages: 1, notes: 0))
    }

    func testAllLinesOfRulesFilesThatCannotBeReadAreReportedAtOnce() throws {
        let outcome = try shell(
            """
            printf 'no finding\\nDishReady onn main\\nno handlr\\n' > one; printf 'every\\n' > two
            notify-demo check --rules one --rules two 2>&1 | grep -oE '(one|two):[0-9]+:[0-9]+'
            notify-demo record --check one --check two -- touch made 2>&1 | grep -oE '(one|two):[0-9]+:[0-9]+'; ls made
            """)
        let places = "one:2:11\none:3:4\ntwo:1:6\n"
        XCTAssertEqual(outcome.output, places + places)
    }

    func testEachReportIsWrittenToItsFileOrAloneOnStandardOutput() throws {
        let outcome = try shell(
            """
            mkdir -p Sources/Examples/kitchen; touch Sources/Examples/kitchen/main.swift main.swift
            c() { notify-demo check --rules good.txt --rule 'DishReady on thread cook' "$@"; echo "status $?"; }
            c --json; c --junit -; c --sarif -; c --junit a --sarif b > /dev/null; cat a b
            """)
        let parts = outcome.output.components(separatedBy: "status 1\n")
        try require(parts.count == 4, outcome.output)
        let json = try object(parts[0])
        XCTAssertEqual(json["failedCount"] as? Int, 1)
        XCTAssertTrue(parts[1].hasPrefix("<?xml "))
        XCTAssertTrue(parts[1].contains("<testsuite name=\"notifications.jsonl\" tests=\"2\" failures=\"1\""))
        XCTAssertTrue(parts[2].contains("\"uri\":\"Sources/Examples/kitchen/main.swift\""), parts[2])
        XCTAssertTrue(parts[2].contains("\"startLine\":16"), parts[2])
        XCTAssertEqual(parts[3], parts[1] + parts[2])
    }

    func testRecordChecksTheRulesWhenTheProgramHasEndedAndItsStatusComesFirst() throws {
        let outcome = try shell(
            """
            r() { rules=$1; shift; notify-demo record -o run.jsonl --check $rules -- "$@" 2> errors; echo "status $?"
            grep -E 'handlers|passed|recorded nothing' errors; }
            r good.txt kitchen; r bad.txt kitchen; r bad.txt sh -c 'kitchen; exit 3'; r good.txt true
            """)
        let dishes = "served 6 dishes, and the bell did not ring\n"
        let failed = """
            FAILED  DishReady on thread cook: 6 of 6 handlers ran on another thread
            0 passed, 1 failed

            """
        XCTAssertEqual(
            outcome.output,
            """
            \(dishes)status 0
            ok      OrderPlaced on thread cook: 6 handlers
            1 passed, 0 failed
            \(dishes)status 1
            \(failed)\(dishes)status 3
            \(failed)status 2
            notify-demo: true recorded nothing: it posts and observes no notifications, is linked statically, has rights that \
            its user does not have, or could not write its recording and said so.
            0 passed, 2 failed

            """)
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

    func testColoursAndWidthFollowTheTerminalAndAClosedPipeEndsItQuietly() throws {
        let outcome = try shell(
            """
            export TERM=xterm
            t() { script -qec "stty cols $1; notify-demo check --rules good.txt --rules bad.txt" /dev/null; }
            t 60; NO_COLOR=1 t 60 | grep -c $'\\e'
            set -o pipefail; { notify-demo check --rules good.txt | true; } 2>&1; echo "status $?"
            """)
        let lines = outcome.output.split { $0.isNewline }
        XCTAssertTrue(outcome.output.contains("\u{1B}[32mok\u{1B}[0m      OrderPlaced"), outcome.output)
        XCTAssertTrue(outcome.output.contains("\u{1B}[31mFAILED\u{1B}[0m  DishReady"), outcome.output)
        let widths = lines.dropLast(2).map { $0.replacing(/\u{1B}\[\d+m/, with: "").count }
        XCTAssertTrue(widths.allSatisfy { $0 <= 60 }, outcome.output)
        XCTAssertEqual(lines.suffix(2).first, "0")
        XCTAssertEqual(lines.last, "status 0")
    }
}
