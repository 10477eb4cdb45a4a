import SharedTesting
import XCTest

/// The files that `run`, `timeline` and `trace` write.
final class OutputTests: XCTestCase {
    func testAnOutputIsWrittenInPlaceWhenItIsCompleteAndTheScreenHasOnlyWhatItShould() throws {
        let outcome = try Shell.inDirectory(
            """
            notify-demo run redirect -o run.jsonl > /dev/null 2>&1
            mkdir d; cd d; echo old > target; chmod 640 target; ln -s target link; mkfifo f; cat f > fifo &
            notify-demo timeline ../run.jsonl > a; notify-demo timeline ../run.jsonl -o link; cmp a target
            notify-demo timeline ../run.jsonl -o f; wait; cmp a fifo; stat -c %a target; readlink link
            { echo before; notify-demo timeline ../run.jsonl -o /dev/stdout; notify-demo timeline ../run.jsonl -o -
            echo after; } > b; { echo before; cat a a; echo after; } | cmp - b
            notify-demo trace ../run.jsonl -o t.json; notify-demo trace ../run.jsonl | cmp - t.json; echo *
            for o in "-o -" "-o /dev/stdout" --json; do
                notify-demo run redirect $o 2>&- | tee c | notify-demo check - --rule "everything delivered" | tail -n 1
                grep -vc '^{' c
            done
            """)
        XCTAssertEqual(
            outcome.output,
            "640\ntarget\na b f fifo link t.json target\n" + String(repeating: "1 passed, 0 failed\n0\n", count: 3))
        XCTAssertEqual(outcome.errors, "")
    }

    func testAnOutputThatCannotBeWrittenOrIsTheInputIsAnErrorAndASignalLeavesTheFileAsItWas() throws {
        let outcome = try Shell.inDirectory(
            """
            echo old > a; mkfifo in; exec 4<> in
            notify-demo timeline - -o a <in & until [ "$(< /proc/$!/comm)" = notify-demo ]; do :; done
            kill -TERM $!; wait $!; echo $?; cat a
            for o in /nonexistent/a /tmp ''; do notify-demo run redirect -o "$o" > b 2> said; echo $?; cat said >&2; done
            notify-demo run redirect -o run.jsonl > b 2>&1; (ulimit -f 1; notify-demo timeline run.jsonl --svg -o c; echo $?)
            cp run.jsonl kept
            for c in "timeline run.jsonl" "trace -"; do notify-demo $c -o ./run.jsonl < run.jsonl; echo $?; done
            cmp run.jsonl kept
            """)
        XCTAssertEqual(outcome.output, "143\nold\n2\n2\n2\n2\n64\n64\n", "\(outcome.errors)")
        for message in [
            "/nonexistent/a: No such file", "/tmp: Is a directory", "\"\": No such file", "c: File too large",
        ] {
            XCTAssertTrue(outcome.errors.contains("cannot write \(message)"), "\(outcome.errors)")
        }
    }
}
