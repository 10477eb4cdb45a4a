import NotificationCompatibility
import SharedTesting
import XCTest

final class NSMachPortTests: XCTestCase {
    private final class MessageReceiver: NSObject, NSMachPortDelegate {
        var sums: [Int] = []

        func handleMachMessage(_ msg: UnsafeMutableRawPointer) {
            sums.append(UnsafeRawBufferPointer(start: msg, count: 24).reduce(0) { $0 + Int($1) })
        }
    }

    private final class PortMessageReceiver: NSObject, NSMachPortDelegate {
        var ports: [Port?] = []

        func handle(_ message: PortMessage) { ports.append(message.receivePort) }
    }

    func testSignalsThatWaitResultInOneEmptyMessageOrOnePortMessage() {
        let (messages, ports) = (MessageReceiver(), PortMessageReceiver())
        for receiver in [messages, ports] as [any NSMachPortDelegate] {
            let port = NSMachPort()
            port.setDelegate(receiver)
            XCTAssertTrue(port.delegate() === receiver)
            for _ in 0..<3 { port.send(before: Date(), components: nil, from: nil, reserved: 0) }
            RunLoop.current.add(port, forMode: .default)
            let before = messages.sums.count
            XCTAssertTrue(RunLoop.runCurrent { messages.sums.count + ports.ports.count > before })
            if receiver === ports { XCTAssertTrue(ports.ports.first as? NSMachPort === port) }
            port.invalidate()
            XCTAssertFalse(port.send(before: Date(), components: nil, from: nil, reserved: 0))
        }
        XCTAssertEqual(messages.sums, [0])
        XCTAssertEqual(ports.ports.count, 1)
    }
}
