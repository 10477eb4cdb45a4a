import NotificationCompatibility
import SharedTesting
import XCTest

final class NSMachPortTests: XCTestCase {
    private final class MessageReceiver: NSObject, NSMachPortDelegate {
        var calls = 0
        var byteSum = 0

        func handleMachMessage(_ msg: UnsafeMutableRawPointer) {
            calls += 1
            byteSum += UnsafeRawBufferPointer(start: msg, count: 24).reduce(0) { $0 + Int($1) }
        }
    }

    private final class PortMessageReceiver: NSObject, NSMachPortDelegate {
        var ports: [Port?] = []

        func handle(_ message: PortMessage) {
            ports.append(message.receivePort)
        }
    }

    func testSignalsThatWaitResultInOneEmptyMessage() {
        let (port, receiver) = (NSMachPort(), MessageReceiver())
        port.setDelegate(receiver)
        XCTAssertTrue(port.delegate() === receiver)
        for _ in 0..<3 { port.send(before: Date(), components: nil, from: nil, reserved: 0) }
        port.schedule(in: .current, forMode: .default)
        run { receiver.calls > 0 }
        XCTAssertEqual(receiver.calls, 1)
        XCTAssertEqual(receiver.byteSum, 0)
        port.invalidate()
        XCTAssertFalse(port.send(before: Date(), components: nil, from: nil, reserved: 0))
    }

    func testADelegateMayHandlePortMessagesInstead() {
        let (port, receiver) = (NSMachPort(), PortMessageReceiver())
        port.setDelegate(receiver)
        RunLoop.current.add(port, forMode: .common)
        port.send(before: Date(), components: nil, from: nil, reserved: 0)
        run { !receiver.ports.isEmpty }
        XCTAssertTrue(receiver.ports.first as? NSMachPort === port)
        port.invalidate()
    }

    private func run(until condition: () -> Bool) {
        let limit = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while !condition(), RunLoop.main.run(mode: .default, before: limit), Date() < limit {}
    }
}
