import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// Programs into which the recorder is preloaded live as they do alone, and have recorded what they say.
final class RecordedLivesTests: XCTestCase {
    /// Runs a command, recorded or not, in a directory of its own, after `preparation` there. The output is that of the
    /// command and the lines of its recording.
    private func live(
        _ command: String, isRecorded: Bool = true, preparation: String = ":"
    ) throws -> (end: ChildProcess.End, lines: [String], errors: String) {
        let recorder = """
            env LD_PRELOAD="$(dirname "$(command -v notify-demo)")/libnotification-recorder.so" \
            THREADED_NOTIFICATIONS_RECORDING="$PWD/run.jsonl"
            """
        let outcome = try Shell.run(
            """
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT; export SWIFT_BACKTRACE=enable=no; ulimit -c 0
            { \(preparation); } >&2 || exit 3
            \(isRecorded ? recorder : "") timeout -k 5 60 \(command); status=$?
            [ ! -e run.jsonl ] || cat run.jsonl; exit $status
            """)
        return (outcome.end, outcome.output.split(separator: "\n").map(String.init), outcome.errors)
    }

    private func unrecorded(_ lines: [String]) -> [Substring] {
        lines.compactMap { $0.firstMatch(of: /^{"unrecorded":"(.*)"}/)?.1 }
    }

    func testAFunctionOfAnotherLibraryIsNotTakenForTheRecorder() throws {
        try XCTSkipUnless(try Shell.run("command -v clang").end == .exit(0), "There is no compiler.")
        let preparation = """
            echo '#include <stdlib.h>
            void notification_recorder(void) { abort(); }' > other.c && clang -shared -fPIC other.c -o other.so
            """
        let life = try live("env LD_PRELOAD=./other.so kitchen", isRecorded: false, preparation: preparation)
        XCTAssertEqual(life.end, .exit(0), life.errors)
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
        let life = try live("./main", preparation: preparation)
        XCTAssertEqual(life.end, .exit(0), life.errors)
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
        let life = try live("./main", preparation: preparation)
        XCTAssertEqual(life.end, .exit(0), life.errors)
        XCTAssertEqual(
            unrecorded(life.lines), ["notification centers: the program loaded Foundation after it began (dlopen)"])
    }

    func testAProgramIsRecordedWithoutProcAndALineSaysWhatIsMissing() throws {
        let unmount = "unshare -rm sh -c 'mount -t tmpfs none /proc && exec \"$@\"' sh"
        try XCTSkipUnless(try Shell.run("\(unmount) true").end == .exit(0), "/proc cannot be hidden here.")
        let life = try live("\(unmount) $(command -v foundation-child)")
        XCTAssertEqual(life.end, .exit(0), life.errors)
        XCTAssertEqual(life.lines.count { $0.contains("\"stage\":\"post\"") }, 5)
        XCTAssertEqual(unrecorded(life.lines), ["names of threads: there is no /proc"])
    }

    // MARK: Threads

    func testThreadsHaveTheNamesThatAProgramGaveThemAndThoseOfADispatchPoolAreMarked() throws {
        let lines = try live("foundation-child threads").lines
        XCTAssertEqual(
            lines.filter { $0.hasPrefix("{\"thread\"") }.map { $0.replacing(/,"kernelID":\d+/, with: "") },
            [
                #"{"thread":1,"name":"main"}"#, #"{"thread":2,"pool":true}"#, #"{"thread":3,"name":"loader"}"#,
                #"{"thread":4}"#, #"{"thread":5}"#,
            ])
    }
}
