import ChildProcesses
import SharedTesting
import XCTest

/// Programs into which the recorder is preloaded live as they do alone, and have recorded what they say.
final class RecordedLivesTests: XCTestCase {
    /// Runs a command, recorded or not, after `preparation`. The output is that of the command and the lines of its
    /// recording.
    private func live(
        _ command: String, isRecorded: Bool = true, preparation: String = ":"
    ) throws -> [String] {
        let recorder = """
            env LD_PRELOAD="$(dirname "$(command -v notify-demo)")/libnotification-recorder.so" \
            THREADED_NOTIFICATIONS_RECORDING="$PWD/run.jsonl"
            """
        let outcome = try Shell.inDirectory(
            """
            export SWIFT_BACKTRACE=enable=no; ulimit -c 0; { \(preparation); } >&2 || exit 3
            \(isRecorded ? recorder : "") timeout -k 5 60 \(command); status=$?
            [ ! -e run.jsonl ] || cat run.jsonl; exit $status
            """)
        XCTAssertEqual(outcome.end, .exit(0), "\(command): \(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    private func unrecorded(_ lines: [String]) -> [Substring] {
        lines.compactMap { $0.firstMatch(of: /^{"unrecorded":"(.*)"}/)?.1 }
    }

    func testAnotherLibraryMayHaveAFunctionOfTheRecordersNameAndWaitForThreadsWhenItIsLoaded() throws {
        try XCTSkipUnless(try Shell.run("command -v clang").end == .exit(0), "There is no compiler.")
        _ = try live(
            "env LD_PRELOAD=./other.so kitchen", isRecorded: false,
            preparation: """
                echo '#include <stdlib.h>
                void notification_recorder(void) { abort(); }' > other.c && clang -shared -fPIC other.c -o other.so
                """)
        _ = try live(
            "./main",
            preparation: """
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
                """)
    }

    func testAProgramThatLoadsFoundationLaterIsRecordedWithALineThatSaysSo() throws {
        try XCTSkipUnless(try Shell.run("command -v swiftc clang").end == .exit(0), "There is no compiler.")
        let lines = try live(
            "./main",
            preparation: """
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
                """)
        XCTAssertEqual(
            unrecorded(lines), ["notification centers: the program loaded Foundation after it began (dlopen)"])
    }

    func testAProgramIsRecordedWithoutProcAndALineSaysWhatIsMissing() throws {
        let unmount = "unshare -rm sh -c 'mount -t tmpfs none /proc && exec \"$@\"' sh"
        try XCTSkipUnless(try Shell.run("\(unmount) true").end == .exit(0), "/proc cannot be hidden here.")
        let lines = try live("\(unmount) $(command -v foundation-child)")
        XCTAssertEqual(lines.count { $0.contains("\"stage\":\"post\"") }, 5)
        XCTAssertEqual(unrecorded(lines), ["names of threads: there is no /proc"])
    }

    func testThreadsHaveTheNamesThatAProgramGaveThemAndThoseOfADispatchPoolAreMarked() throws {
        let lines = try live("foundation-child threads")
        XCTAssertEqual(
            lines.filter { $0.hasPrefix("{\"thread\"") }.map { $0.replacing(/,"kernelID":\d+/, with: "") },
            [
                #"{"thread":1,"name":"main"}"#, #"{"thread":2,"pool":true}"#, #"{"thread":3,"name":"loader"}"#,
                #"{"thread":4}"#, #"{"thread":5}"#,
            ])
    }
}
