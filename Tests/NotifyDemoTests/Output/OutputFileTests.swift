import DeliveryDiagnostics
import Foundation
import Subprocess
import Testing

/// The files that `run`, `timeline`, `trace` and `smoke` write.
@Suite("Output files")
struct OutputFileTests {
    /// Runs shell lines in a new directory with a recording, `run.jsonl`.
    private func shell(_ line: String) async throws -> Shell.Outcome {
        try await Shell.run(
            """
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            notify-demo run redirect -o run.jsonl > /dev/null 2>&1; cp run.jsonl copy
            \(line)
            """)
    }

    @Test(
        "an output cannot overwrite the recording that it is made from, under any name",
        arguments: ["timeline", "trace"])
    func sameFile(command: String) async throws {
        let outcome = try await shell(
            """
            ln -s run.jsonl link; ln run.jsonl hard
            for output in run.jsonl ./run.jsonl link hard; do notify-demo \(command) run.jsonl -o $output; echo $?; done
            notify-demo \(command) - -o run.jsonl < run.jsonl; echo $?; cmp run.jsonl copy
            """)
        #expect(outcome.output == "64\n64\n64\n64\n64\n")
        #expect(outcome.errors.contains("would overwrite the recording. Name another file with -o."))
    }

    @Test(
        "an existing file is replaced behind a symbolic link and keeps its permissions, without leftovers"
    )
    func replaced() async throws {
        let outcome = try await shell(
            """
            mkdir d; echo old > d/target; chmod 640 d/target; ln -s target d/link
            notify-demo timeline run.jsonl -o d/link; ls -A d; stat -c %a d/target; readlink d/link; head -c 3 d/target
            """)
        #expect(outcome.output.hasPrefix("link\ntarget\n640\ntarget\n"), "\(outcome.errors)")
        #expect(!outcome.output.hasSuffix("old"))
    }

    @Test("if the output does not fit, a message says so, and the existing file stays as it was")
    func full() async throws {
        let outcome = try await shell(
            """
            mkdir d; echo old > d/a; ulimit -f 1; notify-demo trace run.jsonl -o d/a; echo $?; ls -A d; cat d/a
            """)
        #expect(outcome.output == "2\na\nold\n")
        #expect(outcome.errors.contains("cannot write d/a: File too large."), "\(outcome.errors)")
    }

    @Test("a signal that ends a command removes the incomplete output")
    func interrupted() async throws {
        let outcome = try await shell(
            """
            mkdir d; echo old > d/a; mkfifo shown; exec 4<> shown
            notify-demo smoke --junit d/a > shown 2>/dev/null & read line <&4
            ls -A d | wc -l; kill -TERM $!; wait $!; echo $?; ls -A d; cat d/a
            """)
        #expect(outcome.output == "2\n143\na\nold\n", "\(outcome.errors)")
    }

    @Test("/dev/stdout and - are standard output, and no file with that name is created")
    func standardOutput() async throws {
        let outcome = try await shell(
            """
            mkdir d; cd d
            notify-demo timeline ../run.jsonl > ../a; notify-demo timeline ../run.jsonl -o - | cmp - ../a
            notify-demo timeline ../run.jsonl -o /dev/stdout | cmp - ../a
            { echo before; notify-demo timeline ../run.jsonl -o /dev/stdout; echo after; } > ../b
            { echo before; cat ../a; echo after; } | cmp - ../b
            notify-demo run redirect -o - 2>/dev/null | notify-demo audit --json -; ls -A
            """)
        #expect(outcome.output.contains("\"isCut\":false"), "\(outcome.output)")
        #expect(outcome.output.split(separator: "\n").count == 1, "\(outcome.output)")
        #expect(outcome.errors == "")
    }

    @Test("run -o - does not allow --style, and neither does --json")
    func style() async throws {
        let outcome = try await shell(
            """
            for output in - /dev/stdout; do notify-demo run redirect -o $output --style stages; echo $?; done
            """)
        #expect(outcome.output == "64\n64\n")
    }

    @Test("-o /dev/stdout prints only the output on standard output, as -o - does")
    func devStdout() async throws {
        let outcome = try await shell(
            """
            notify-demo run redirect -o /dev/stdout 2>/dev/null | tee a | notify-demo audit --json -; grep -vc '^{' a
            notify-demo run redirect -o b > b 2>/dev/null; grep -vc '^{' b
            notify-demo trace run.jsonl -o - > c; notify-demo trace run.jsonl -o /dev/stdout | cmp - c
            """)
        #expect(outcome.output.contains("\"isCut\":false"), "\(outcome.output)")
        #expect(outcome.output.hasSuffix("\n0\n0\n"), "\(outcome.output)")
        #expect(outcome.errors == "")
    }

    @Test("run --json ends its records as a recording's file does, so that audit finds it complete")
    func json() async throws {
        let outcome = try await shell(
            "notify-demo run redirect --json 2>/dev/null | notify-demo audit --json -; echo $?")
        #expect(outcome.output.contains("\"isCut\":false"), "\(outcome.output)")
        #expect(outcome.output.hasSuffix("\n0\n"))
    }
}
