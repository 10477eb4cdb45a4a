import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// Recordings of programs that use only Foundation, made by the preloaded recorder.
final class FoundationRecordingTests: XCTestCase {
    /// A line of a recording in short: the number of the thread, the stage, and its details.
    private static func summary(_ line: Substring) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let record = object as? [String: Any] else { return nil }
        if let unrecorded = record["unrecorded"] { return "unrecorded: \(unrecorded)" }
        guard let stage = record["stage"] as? String, stage != "end" else { return nil }
        var words = ["\(record["thread"] ?? 0)", stage]
        if let name = record["name"] { words.append("\(name)") }
        if let post = record["post"] { words.append("post \(post)") }
        if let observer = record["observer"] { words.append("observer \(observer)") }
        if stage == "postEnd", let count = record["count"] { words.append("count \(count)") }
        if let type = record["type"] { words.append(record["sender"] == nil ? "value \(type)" : "object \(type)") }
        if let queue = record["queue"] as? String { words.append(queue == "main" ? "main queue" : "queue") }
        for key in ["style", "reason"] { if let value = record[key] { words.append("\(value)") } }
        if let call = record["at"] as? String, call.contains("/libFoundation") { words.append("by Foundation") }
        return words.joined(separator: " ")
    }

    /// Records a command after `preparation`. Reads the output of `after`, too.
    private func record(
        _ command: String, preparation: String = ":", after: String = ":"
    ) throws -> (lines: [String], errors: String) {
        let outcome = try Shell.inDirectory(
            """
            library=$(dirname "$(command -v notify-demo)")/libnotification-recorder.so; export SWIFT_BACKTRACE=enable=no
            { \(preparation); } >&2 || exit 3
            env LD_PRELOAD="$library" THREADED_NOTIFICATIONS_RECORDING="$PWD/run.jsonl" \(command) > output
            status=$?; cat run.jsonl; \(after); cat output >&2; exit $status
            """)
        XCTAssertEqual(outcome.end, .exit(0), "\(command): \(outcome.errors)")
        return (try outcome.output.split(separator: "\n").compactMap(Self.summary), outcome.errors)
    }

    private func child(_ part: String) throws -> [String] { try record("foundation-child \(part)").lines }

    /// Parts of `foundation-child`, and their records in order.
    private static let parts: KeyValuePairs = [
        // Also if a handler posts.
        "handlers": """
        1 register Saved observer 1; 1 post Saved post 1; 1 deliver post 1 observer 1; 1 post Nested post 2; 1 \
        postEnd post 2 count 0; 1 return post 1 observer 1; 1 postEnd post 1 count 1; 2 post Saved post 3; 2 deliver \
        post 3 observer 1; 2 post Nested post 4; 2 postEnd post 4 count 0; 2 return post 3 observer 1; 2 postEnd \
        post 3 count 1; 1 remove observer 1 cancelled; 1 post Saved post 5; 1 postEnd post 5 count 0
        """,
        // A second removal is recorded as such, even if it removes another observer. A center ends with its observer.
        "removals": """
        1 register Saved observer 1; 1 remove observer 1 cancelled; 1 remove observer 1 alreadyRemoved; 1 register \
        Saved observer 2; 1 remove observer 2 cancelled; 1 remove observer 1 alreadyRemoved; 1 remove observer 2 \
        alreadyRemoved; 1 register observer 3; 1 remove observer 3
        """,
        "subclasses": """
        1 register Saved observer 1 queue; 1 post Saved post 1; 2 deliver post 1 observer 1; 2 return post 1 \
        observer 1; 1 postEnd post 1 count 1; 1 remove observer 1 cancelled
        """,
        // Foundation posts what is enqueued.
        "enqueue": """
        1 register Saved observer 1; 1 enqueue Saved object Sender now; 1 post Saved post 1 object Sender by \
        Foundation; 1 deliver post 1 observer 1; 1 return post 1 observer 1; 1 postEnd post 1 count 1; 1 enqueue \
        Saved object Sender asap; 1 post Saved post 2 object Sender by Foundation; 1 deliver post 2 observer 1; 1 \
        return post 2 observer 1; 1 postEnd post 2 count 1; 1 remove observer 1 cancelled
        """,
        "reading": """
        1 register NSFileHandleReadToEndOfFileCompletionNotification observer 1 object FileHandle; 1 enqueue \
        NSFileHandleReadToEndOfFileCompletionNotification object FileHandle asap by Foundation; 1 post \
        NSFileHandleReadToEndOfFileCompletionNotification post 1 object FileHandle by Foundation; 1 deliver post 1 \
        observer 1; 1 return post 1 observer 1; 1 postEnd post 1 count 1; 1 remove observer 1 cancelled
        """,
        // A thread ends in a handler.
        "exit-thread": """
        1 register Saved observer 1; 2 post Saved post 1; 2 deliver post 1 observer 1; 1 post Saved post 2; 1 \
        deliver post 2 observer 1; 1 return post 2 observer 1; 1 postEnd post 2 count 1; 1 remove observer 1 \
        cancelled
        """,
    ]

    func testPostsHandlersRemovalsAndQueuesAreRecordedWithTheirThreadsInOrder() throws {
        for (part, lines) in Self.parts { XCTAssertEqual(try child(part).joined(separator: "; "), lines, part) }
    }

    func testAHandlerInAnOperationQueueIsRecordedOnTheThreadOfItsOperation() throws {
        // The operations may run on different threads.
        let lines = try child("queues").map { $0.hasPrefix("1 ") ? $0 : "other" + $0.drop { $0 != " " } }
        XCTAssertEqual(
            lines.sorted(),
            [
                "1 register Saved observer 1 queue", "1 register Saved observer 2 main queue",
                "1 post Saved post 1",
                "other deliver post 1 observer 1", "other return post 1 observer 1",
                "1 deliver post 1 observer 2", "1 return post 1 observer 2",
                "1 postEnd post 1 count 2",
                // The posting thread runs an operation of the first queue.
                "other post Saved post 2",
                "other deliver post 2 observer 1", "other return post 2 observer 1",
                "1 deliver post 2 observer 2", "1 return post 2 observer 2",
                "other postEnd post 2 count 2",
                "1 remove observer 1 cancelled", "1 remove observer 2 cancelled",
            ].sorted())
    }

    func testPostsAtTheSameTimeAreToldApartInAnOperationQueue() throws {
        let lines = try child("concurrent").map { $0.drop { $0 != " " } }
        for stage in ["deliver", "return"] {
            XCTAssertEqual(
                lines.filter { $0.contains(stage) }.sorted(),
                (1...200).map { " \(stage) post \($0) observer 1" }.sorted())
        }
        XCTAssertEqual(lines.count { $0.hasSuffix("count 1") }, 200)
    }

    func testTypedMessagesAreRecordedAndTheEndOfATokenIsARemoval() throws {
        let lines = try child("messages")
        let (ready, later) = ("foundation_child.FoundationChild.Ready", "foundation_child.FoundationChild.Later")
        XCTAssertEqual(
            Array(lines.prefix(6)),
            [
                "1 register \(ready) observer 1 object Sender", "1 register \(ready) observer 2",
                "1 register \(ready) observer 3", "1 register \(later) observer 4 object Sender",
                "1 register \(later) observer 5", "1 register \(later) observer 6",
            ])
        let posts = [
            "1 post \(ready) post 1 object Sender", "1 postEnd post 1 count 3",
            "1 post \(ready) post 2", "1 postEnd post 2 count 2",
            "1 post \(later) post 3 object Sender", "1 postEnd post 3",
            "1 post \(later) post 4", "1 postEnd post 4",
        ]
        XCTAssertEqual(lines.filter { $0.contains(" post ") || $0.contains("postEnd") }.filter(posts.contains), posts)
        // A handler of an asynchronous message runs in a task, and its post is not known.
        let delivered = lines.filter { $0.contains("deliver") }.map { $0.drop { $0 != "d" } }
        XCTAssertEqual(
            delivered.sorted(),
            [
                "deliver post 1 observer 1", "deliver post 1 observer 2", "deliver post 1 observer 3",
                "deliver post 2 observer 2", "deliver post 2 observer 3",
                "deliver observer 4", "deliver observer 5", "deliver observer 5", "deliver observer 6",
                "deliver observer 6",
            ].sorted())
        XCTAssertEqual(lines.count { $0.contains("return post") }, 5)
        XCTAssertEqual(
            lines.filter { $0.contains("remove") },
            ["1 remove observer 1 released"] + (2...6).map { "1 remove observer \($0) cancelled" })
    }

    func testTheSenderOfAPostIsRecordedWithItsTypeAndAnObjectWithItsIdentity() throws {
        XCTAssertEqual(
            try child("senders").filter { $0.contains(" post ") && !$0.contains("postEnd") },
            [
                "1 post Saved post 1 object Sender", "1 post Saved post 2 object Subsender",
                "1 post Saved post 3 value String", "1 post Saved post 4 value Optional<Int>",
                "1 post ein Name, der länger als fünfzehn Bytes ist post 5",
                "1 post quote \" \n post 6 value Sender.Type",
            ])
    }

    func testARecordedHandlerIsReleasedWithItsObserver() throws {
        let recorded = try record("foundation-child lifetimes")
        XCTAssertEqual(recorded.errors, "0\n")
        XCTAssertEqual(recorded.lines.count { $0.contains("remove") }, 1000)
    }

    func testForkedProcessesAreRecordedInFilesOfTheirOwn() throws {
        let recorded = try record("foundation-child fork", after: "cat run.jsonl.* | tr -d '\\0'")
        XCTAssertEqual(recorded.errors, "[\(7 << 8)]\n")
        let counts = Dictionary(grouping: recorded.lines) { $0.split(separator: " ")[1] }.mapValues(\.count)
        XCTAssertEqual(counts["register"], 26)
        XCTAssertEqual(counts["remove"], 26)
        XCTAssertEqual(counts["deliver"], counts["return"])
    }

    func testThreadsHaveTheNamesThatAProgramGaveThemAndThoseOfADispatchPoolAreMarked() throws {
        let threads = try record(
            "foundation-child threads", after: #"sed -n '/^{"thread"/s/,"kernelID":[0-9]*//p' run.jsonl >&2"#
        ).errors
        XCTAssertEqual(
            threads.split(separator: "\n"),
            [
                #"{"thread":1,"name":"main"}"#, #"{"thread":2,"pool":true}"#, #"{"thread":3,"name":"loader"}"#,
                #"{"thread":4}"#, #"{"thread":5}"#,
            ])
    }

    func testAProgramThatLoadsFoundationLaterIsRecordedWithALineThatSaysSo() throws {
        try XCTSkipUnless(try Shell.run("command -v swiftc clang").end == .exit(0), "There is no compiler.")
        let recorded = try record(
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
        let reason = "notification centers: the program loaded Foundation after it began (dlopen)"
        XCTAssertEqual(recorded.lines, ["unrecorded: \(reason)"])
    }

    /// Compiles a stand-in for Foundation, the recorder, and a program whose threads post and observe.
    func testThreadsDoNotRaceInTheRecorder() throws {
        try XCTSkipUnless(try Shell.run("command -v clang").end == .exit(0), "clang is not in PATH.")
        let swift = "$(dirname \"$(readlink -f \"$(command -v swiftc)\")\")/../lib/swift/linux"
        let recorded = try record(
            "TSAN_OPTIONS=exitcode=66 ./threads",
            preparation: """
                root='\(Repository.root.path)'; recorder="$root/Sources/notification-recorder"
                compile() {
                    clang -std=gnu11 -O1 -g -fPIC -fsanitize=thread -I"$recorder" -I"$recorder/include" \
                        -I"$root/Sources/CRecorderInterface/include" -I"$root/Sources/CDeliveryRecorder/include" "$@"
                }
                compile -shared -Wl,-Bsymbolic "$root/Tests/foundation-stand-in/foundation.c" -o libFoundationEssentials.so &&
                compile "$root/Tests/foundation-stand-in/threads.c" -o threads -L. -lFoundationEssentials -lpthread \
                    -L"\(swift)" -ldispatch -lBlocksRuntime -Wl,-rpath,"$PWD:\(swift)" &&
                compile -shared "$recorder"/*.c "$root"/Sources/CDeliveryRecorder/*.c -o recorder.so -lpthread &&
                library=$PWD/recorder.so
                """)
        let counts = Dictionary(grouping: recorded.lines) { $0.split(separator: " ")[1] }.mapValues(\.count)
        XCTAssertEqual(counts["register"], 400)
        XCTAssertEqual(counts["remove"], 400)
        XCTAssertEqual(counts["deliver"], counts["return"])
    }
}
