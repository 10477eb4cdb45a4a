import Dispatch
import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import RunLoopIntegration
@testable import ThreadedNotifications

/// Descriptors that a `RunLoopThread` watches.
final class DescriptorWatchTests: XCTestCase {
    private let worker = RunLoopThread(name: "watcher")
    private var pipe: (read: CInt, write: CInt) = (-1, -1)

    override func setUpWithError() throws {
        try worker.start()
        var ends: [CInt] = [-1, -1]
        XCTAssertEqual(Glibc.pipe(&ends), 0)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        pipe = (ends[0], ends[1])
    }

    override func tearDownWithError() throws {
        worker.stop()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        close(pipe.read)
        close(pipe.write)
    }

    private func write(_ text: String) {
        XCTAssertEqual(Glibc.write(pipe.write, text, text.utf8.count), text.utf8.count)
    }

    func testTheHandlerIsCalledOnTheThreadUntilEverythingIsReadAndWhenADescriptorCanBeWritten() throws {
        let (text, isComplete, isWritable) = (Locked(""), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // It is ready before it is watched.
        write("hel")
        let reading = try worker.watch(pipe.read, for: .read) { [pipe, worker] in
            var byte: UInt8 = 0
            // One byte in each call.
            guard read(pipe.read, &byte, 1) == 1 else { return }
            XCTAssertTrue(worker.isCurrent)
            text.withLock { $0.append(Character(UnicodeScalar(byte))) }
            if byte == UInt8(ascii: "!") { isComplete.signal() }
        }
        write("lo!")
        isComplete.wait()
        XCTAssertEqual(text.withLock { $0 }, "hello!")
        let writing = try worker.watch(pipe.write, for: .write) { isWritable.signal() }
        isWritable.wait()
        writing.cancel()
        reading.cancel()
    }

    func testACancelledWatchIsNotCalledAgain() throws {
        let calls = Locked(0)
        let isCalled = DispatchSemaphore(value: 0)
        let watch = try worker.watch(pipe.read, for: .read) {
            calls.withLock { $0 += 1 }
            isCalled.signal()
        }
        write("x")
        isCalled.wait()
        // On the thread, so that the handler does not run at the same time.
        try worker.performAndWait(timeout: TestTimeout.hang) { watch.cancel() }
        let before = calls.withLock { $0 }
        write("y")
        for _ in 1...10 { try worker.performAndWait(timeout: TestTimeout.hang) {} }
        XCTAssertEqual(calls.withLock { $0 }, before)
    }

    func testADescriptorThatCannotBePolledAndAThreadThatDoesNotRunAreErrors() throws {
        let regular = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        XCTAssertTrue(FileManager.default.createFile(atPath: regular.path, contents: nil))
        defer { try? FileManager.default.removeItem(at: regular) }
        let opened = open(regular.path, O_RDONLY | O_CLOEXEC)
        defer { close(opened) }
        for bad in [-1, opened] {
            XCTAssertThrowsError(try worker.watch(bad, for: .read) {}) { error in
                XCTAssertEqual((error as? DeliveryError)?.code, .descriptorFailed)
                XCTAssertTrue("\(error)".contains("watcher"), "\(error)")
            }
        }
        XCTAssertThrowsError(try RunLoopThread(name: "new").watch(pipe.read, for: .read) {}) { error in
            XCTAssertEqual((error as? DeliveryError)?.code, .threadNotStarted)
        }
    }
}
