import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// Programs into which the recorder is preloaded live as they do alone, and have recorded what they say.
final class RecordedLivesTests: XCTestCase {
    private struct Life {
        var outcome: Shell.Outcome
        /// The posts in the program's own recording, and in those of its copies.
        var posts = 0
        var postsOfCopies = 0
        var unrecorded: [String] = []

        /// The number of posts that the program says it has made.
        var said: Int { outcome.output.matches(of: /posted (\d+)/).compactMap { Int($0.1) }.reduce(0, +) }
    }

    /// Runs a command, recorded or not, in a directory of its own, after `preparation` there.
    private func live(_ command: String, isRecorded: Bool, preparation: String = ":") throws -> Life {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let recorder = """
            env LD_PRELOAD="$(dirname "$(command -v notify-demo)")/libnotification-recorder.so" \
            THREADED_NOTIFICATIONS_RECORDING="$PWD/run.jsonl"
            """
        let outcome = try Shell.run(
            """
            cd '\(directory.path)'; export SWIFT_BACKTRACE=enable=no; ulimit -c 0
            { \(preparation); } >&2 || exit 3
            \(isRecorded ? recorder : "") timeout -k 5 60 \(command)
            """)
        var life = Life(outcome: outcome)
        for file in try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        where file.hasPrefix("run.jsonl") {
            let bytes = try Data(contentsOf: directory.appending(component: file))
            let records = try bytes.split(separator: UInt8(ascii: "\n")).filter { !$0.allSatisfy { $0 == 0 } }
                .map { try XCTUnwrap(JSONSerialization.jsonObject(with: $0) as? [String: Any], file) }
            let posts = records.count { $0["stage"] as? String == "post" }
            if file == "run.jsonl" { life.posts = posts } else { life.postsOfCopies += posts }
            life.unrecorded += records.compactMap { $0["unrecorded"] as? String }
        }
        return life
    }

    private func assertLivesAsAlone(
        _ ending: String, postsOfCopies: ClosedRange<Int> = 0...0, line: UInt = #line
    ) throws {
        let alone = try live("foundation-child \(ending)", isRecorded: false)
        let recorded = try live("foundation-child \(ending)", isRecorded: true)
        XCTAssertEqual(recorded.outcome.end, alone.outcome.end, ending, line: line)
        // The numbers of posts depend on the time.
        func text(_ life: Life) -> String { life.outcome.output.replacing(/posted \d+/, with: "posted") }
        XCTAssertEqual(text(recorded), text(alone), ending, line: line)
        if ending != "exit-in-handler" { XCTAssertEqual(recorded.posts, recorded.said, ending, line: line) }
        XCTAssertTrue(postsOfCopies.contains(recorded.postsOfCopies), "\(recorded.postsOfCopies)", line: line)
        XCTAssertEqual(alone.posts, 0)
    }

    func testAProgramEndsAsAloneAndItsRecordsAreInTheFileHoweverItEnds() throws {
        for ending in [
            "exit", "_exit", "quick_exit", "execute", "kill", "abort", "trap", "stack-overflow", "terminate",
            "main-thread-ends", "exit-in-handler",
        ] { try assertLivesAsAlone(ending) }
    }

    func testASignalHasTheEffectThatItHasAloneAndNoHandlerIsSeenThatTheProgramDidNotInstall() throws {
        for ending in ["chained-handler", "signal-handlers"] { try assertLivesAsAlone(ending) }
    }

    func testAProgramMayForkInASignalHandlerThatInterruptsPosts() throws {
        try assertLivesAsAlone("fork-in-handler")
        // Each copy posts once. It may record the post that the handler interrupted, too.
        for ending in ["copies-continue", "copies-continue-without-hooks"] {
            try assertLivesAsAlone(ending, postsOfCopies: 100...200)
        }
    }

    func testACopyThatNoHookOfForkSeesRecordsToAFileOfItsOwn() throws {
        try assertLivesAsAlone("copy-without-hooks", postsOfCopies: 1...1)
    }

    func testAProgramMayCloseAllDescriptorsAndMoveToAUserNamespace() throws {
        for ending in ["close-descriptors", "user-namespace"] { try assertLivesAsAlone(ending) }
    }

    func testAFunctionOfAnotherLibraryIsNotTakenForTheRecorder() throws {
        try XCTSkipUnless(try Shell.run("command -v clang").end == .exit(0), "There is no compiler.")
        let preparation = """
            echo '#include <stdlib.h>
            void notification_recorder(void) { abort(); }' > other.c && clang -shared -fPIC other.c -o other.so
            """
        let life = try live("env LD_PRELOAD=./other.so kitchen", isRecorded: false, preparation: preparation)
        XCTAssertEqual(life.outcome.end, .exit(0))
    }

    func testALibraryThatIsLoadedMayWaitForThreadsThatCreateThreads() throws {
        try XCTSkipUnless(try Shell.run("command -v clang").end == .exit(0), "There is no compiler.")
        let preparation = """
            echo '#include <pthread.h>
            static void *inner(void *argument) { return argument; }
            static void *outer(void *argument) {
                pthread_t thread;
                return pthread_create(&thread, 0, inner, 0) == 0 ? (pthread_join(thread, 0), argument) : 0;
            }
            __attribute__((constructor)) static void start(void) {
                pthread_t thread;
                if (pthread_create(&thread, 0, outer, 0) == 0) pthread_join(thread, 0);
            }' > library.c
            echo '#include <dlfcn.h>
            int main() { return dlopen("./library.so", RTLD_NOW) == 0; }' > main.c
            clang -shared -fPIC library.c -o library.so && clang main.c -o main
            """
        let life = try live("./main", isRecorded: true, preparation: preparation)
        XCTAssertEqual(life.outcome.end, .exit(0), life.outcome.errors)
    }

    // MARK: Programs that are not recorded wholly

    func testAProgramThatLoadsFoundationLaterIsRecordedWithALineThatSaysSo() throws {
        try XCTSkipUnless(try Shell.run("command -v swiftc clang").end == .exit(0), "There is no compiler.")
        let preparation = """
            echo 'import Foundation
            @_cdecl("run") public func run() {
                NotificationCenter.default.post(name: Notification.Name("Late"), object: nil)
            }' > late.swift
            echo '#include <dlfcn.h>
            int main() {
                void *library = dlopen("./liblate.so", RTLD_NOW);
                if (library) ((void (*)(void))dlsym(library, "run"))();
                return library == 0;
            }' > main.c
            swiftc -emit-library late.swift -o liblate.so && clang main.c -o main
            """
        let life = try live("./main", isRecorded: true, preparation: preparation)
        XCTAssertEqual(life.outcome.end, .exit(0), life.outcome.errors)
        XCTAssertEqual(
            life.unrecorded, ["notification centers: the program loaded Foundation after it began (dlopen)"])
    }

    func testAProgramIsRecordedWithoutProcAndALineSaysWhatIsMissing() throws {
        let unmount = "unshare -rm sh -c 'mount -t tmpfs none /proc && exec \"$@\"' sh"
        try XCTSkipUnless(try Shell.run("\(unmount) true").end == .exit(0), "/proc cannot be hidden here.")
        let life = try live("\(unmount) $(command -v foundation-child)", isRecorded: true)
        XCTAssertEqual(life.outcome.end, .exit(3), life.outcome.errors)
        XCTAssertEqual(life.posts, 3)
        XCTAssertEqual(life.unrecorded, ["names of threads: there is no /proc"])
    }

    // MARK: Threads

    func testThreadsHaveTheNamesThatAProgramGaveThemAndThoseOfADispatchPoolAreMarked() throws {
        let life = try lines("foundation-child threads")
        XCTAssertEqual(
            life,
            [
                #"{"thread":1,"name":"main"}"#, #"{"thread":2,"pool":true}"#, #"{"thread":3,"name":"loader"}"#,
                #"{"thread":4}"#, #"{"thread":5}"#,
            ])
    }

    /// The lines about threads, without the kernel's numbers.
    private func lines(_ command: String) throws -> [String] {
        let outcome = try Shell.run(
            """
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            LD_PRELOAD="$(dirname "$(command -v notify-demo)")/libnotification-recorder.so" \
            THREADED_NOTIFICATIONS_RECORDING="$PWD/run.jsonl" \(command); grep '^{"thread"' run.jsonl
            """)
        return outcome.output.split(separator: "\n").map { String($0).replacing(/,"kernelID":\d+/, with: "") }
    }
}
