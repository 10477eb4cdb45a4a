import Foundation
import Glibc
import RunLoopIntegration
import SharedTesting
import Synchronization
import ThreadedNotifications
import XCTest

/// The examples of other main loops in the article *Recipes*.
final class MainLoopExamples: XCTestCase {
    func testAnotherMainLoop() throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))
        nonisolated(unsafe) var isOpen = true  // On the main thread only.
        Thread.detachNewThread { center.post(name: name) }
        // Posted again, because the observer may not be there yet.
        let timer = Timer(fire: .now, interval: 0.01, repeats: true) { _ in center.post(name: name) }
        RunLoop.main.add(timer, forMode: .common)

        // example: begin
        let closing = center.addObserver(forName: name, on: .main) { _ in isOpen = false }
        try RunLoopDescriptor.run { descriptor in
            var watched = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            while isOpen {
                if poll(&watched, 1, -1) > 0 { descriptor.drain() }
            }
        }
        // example: end

        XCTAssertFalse(isOpen)
        timer.invalidate()
        closing.cancel()
    }

    func testADescriptorThatAThreadWatches() throws {
        let worker = RunLoopThread(name: "worker")
        try worker.start()
        var ends: [CInt] = [-1, -1]
        XCTAssertEqual(pipe(&ends), 0)
        let (input, output) = (ends[0], ends[1])
        _ = fcntl(input, F_SETFL, O_NONBLOCK)
        let received = Mutex<[UInt8]>([])

        // example: begin
        let watch = try worker.watch(input, for: .read) {
            var byte: UInt8 = 0
            while read(input, &byte, 1) == 1 { received.withLock { $0.append(byte) } }
        }
        // example: end

        XCTAssertEqual(write(output, "hello", 5), 5)
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while received.withLock({ $0.count }) < 5, Date() < deadline { sched_yield() }
        XCTAssertEqual(received.withLock { $0 }, Array("hello".utf8))
        watch.cancel()
        worker.stop()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        close(input)
        close(output)
    }
}
