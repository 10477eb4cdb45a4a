import SharedTesting
import XCTest

/// The files that `run`, `timeline`, `trace` and `smoke` write.
final class OutputTests: XCTestCase {
    func testAnOutputIsWrittenInPlaceWhenItIsCompleteAndOverwritesNoInputAndTheScreenHasOnlyWhatItShould() throws {
        let outcome = try Shell.inDirectory(
            """
            notify-demo run redirect -o run.jsonl > /dev/null 2>&1; cp run.jsonl copy; ln -s run.jsonl link; ln run.jsonl hard
            for output in run.jsonl link hard; do notify-demo timeline run.jsonl -o $output; echo $?; done
            notify-demo trace - -o run.jsonl < run.jsonl; echo $?; cmp run.jsonl copy
            mkdir d; cd d; echo old > target; chmod 640 target; ln -s target link; mkfifo f; cat f > fifo &
            notify-demo timeline ../run.jsonl > a; notify-demo timeline ../run.jsonl -o link; cmp a target
            notify-demo timeline ../run.jsonl -o f; wait; cmp a fifo; stat -c %a target; readlink link
            { echo before; notify-demo timeline ../run.jsonl -o /dev/stdout; notify-demo timeline ../run.jsonl -o -
            echo after; } > b; { echo before; cat a a; echo after; } | cmp - b
            notify-demo timeline ../run.jsonl --svg -o e.svg; notify-demo timeline ../run.jsonl --svg | cmp - e.svg
            notify-demo trace ../run.jsonl -o t.json; notify-demo trace ../run.jsonl | cmp - t.json; echo *
            for o in "-o -" "-o /dev/stdout" --json; do
                notify-demo run redirect $o 2>&- | tee c | notify-demo check - --rule "everything delivered" | tail -n 1
                grep -vc '^{' c
            done
            """)
        XCTAssertEqual(
            outcome.output,
            "64\n64\n64\n64\n640\ntarget\na b e.svg f fifo link t.json target\n"
                + String(repeating: "1 passed, 0 failed\n0\n", count: 3))
        let messages = outcome.errors.split(separator: "\n").filter { !$0.hasPrefix("Usage") && !$0.hasPrefix("  See") }
        let overwritten = "Error: -o would overwrite"
        XCTAssertEqual(messages.count { $0.hasPrefix(overwritten) && $0.hasSuffix(". Name another file.") }, 4)
        XCTAssertEqual(messages.count, 5, outcome.errors)
        XCTAssertTrue(outcome.errors.hasSuffix("open it in https://ui.perfetto.dev\n"), outcome.errors)
    }

    func testAnOutputThatCannotBeWrittenIsAnErrorAndASignalOrAClosedPipeLeavesTheFileAsItWas() throws {
        let outcome = try Shell.inDirectory(
            """
            echo old > a; mkfifo shown; exec 4<> shown
            notify-demo smoke --junit a > shown 2>/dev/null & read line <&4; kill -TERM $!; wait $!; echo $?; cat a
            notify-demo smoke redirect --junit a | head -n 1 > b; grep -c testsuites a
            for o in /nonexistent/a /tmp ''; do notify-demo run redirect -o "$o" > b 2> said; echo $?; cat said >&2; done
            notify-demo run redirect -o run.jsonl > b 2>&1; (ulimit -f 1; notify-demo timeline run.jsonl --svg -o c; echo $?)
            """)
        XCTAssertEqual(outcome.output, "143\nold\n2\n2\n2\n2\n2\n", "\(outcome.errors)")
        for message in [
            "/nonexistent/a: No such file", "/tmp: Is a directory", "\"\": No such file", "c: File too large",
        ] {
            XCTAssertTrue(outcome.errors.contains("cannot write \(message)"), "\(outcome.errors)")
        }
    }
}
