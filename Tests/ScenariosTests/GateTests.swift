import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import Testing
import ThreadedNotifications

@testable import Scenarios

@Suite("Gate")
struct GateTests {
    private let timeout = Duration.seconds(20)

    @Test("opening a gate twice is the same as opening it once")
    func opensTwice() throws {
        let gate = Gate("the gate")
        gate.open()
        gate.open()
        #expect(gate.isOpen)
        try gate.wait(timeout: .zero)
        try gate.wait(timeout: .zero)
    }

    @Test("a wait for a gate that is closed ends at the timeout, and the error names the gate")
    func staysClosed() {
        let gate = Gate("the gate")
        #expect(!gate.isOpen)
        #expect(throws: ScenarioError.timedOut(waitingFor: "the gate", after: .zero)) { try gate.wait(timeout: .zero) }
        #expect(!gate.isOpen)
    }

    @Test("an open gate lets all waits return, current and later ones")
    func opensForAll() throws {
        let (gate, count) = (Gate("the gate"), 8)
        let returned = (0..<count).map { Gate("waiter \($0)") }
        for index in 0..<count {
            Thread.detachNewThread {
                if (try? gate.wait(timeout: timeout)) != nil { returned[index].open() }
            }
        }
        gate.open()
        for gate in returned { try gate.wait(timeout: timeout) }
        try gate.wait(timeout: .zero)
    }
}
