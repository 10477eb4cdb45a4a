import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import ThreadedNotifications

/// An observer on the main thread, for a command that runs the main thread's run loop.
struct Observation {
    /// The observed name and object, for messages.
    let description: String
    private let center: DistributedCenter
    private let received = ReceivedEvents()
    /// Releasing the tokens would remove the observers.
    private let tokens: [ObserverToken]

    /// Registers the observer and waits until the server has registered it: for `timeout`, but at least 2 and at most 5
    /// seconds.
    init(
        name: String?, object: String?, behavior: SuspensionBehavior, place: ServerPlace, timeout: Duration?
    ) throws {
        description = [name ?? "any notification", object.map { "of \($0)" }].compactMap(\.self).joined(separator: " ")
        center = try DistributedCenter(place: place)
        let received = received
        try EndRequest.handle(within: .seconds(1)) { received.interrupt(.signal($0)) }
        let connection = center.addConnectionObserver(on: .main) { received.add($0) }
        let observer = try center.addObserver(
            forName: name.map { Notification.Name($0) }, object: object, suspensionBehavior: behavior, on: .main
        ) { received.add($0) }
        tokens = [connection, observer]
        try center.synchronize(timeout: min(max(timeout ?? .seconds(5), .seconds(2)), .seconds(5)))
    }

    /// Makes `run` call its `interrupted`.
    ///
    /// - Threads: any.
    func interrupt(_ end: StartedCommand.End) {
        received.interrupt(.commandEnded(end))
    }

    /// Observes until the plan ends.
    ///
    /// - Parameters:
    ///   - show: called with each event, in order.
    ///   - interrupted: called when a command has ended; returns the status to end with, or nil to continue.
    func run(
        _ plan: ObservingPlan, _ terminal: inout Terminal,
        show: (ObservedEvent, inout Terminal) throws -> Void,
        interrupted: (StartedCommand.End, inout Terminal) throws -> ExitStatus?
    ) throws -> ExitStatus {
        defer { center.close() }
        var plan = plan
        let begun = ContinuousClock.now
        while true {
            let (events, interruptions) = received.take()
            for event in events {
                try show(event, &terminal)
                if case .notification = event.kind { plan.countNotification() }
                if plan.isComplete { return .success }
            }
            for interruption in interruptions {
                switch interruption {
                case .signal(let number):
                    try terminal.flush()
                    center.close()
                    EndRequest.end(by: number)
                case .commandEnded(let end):
                    if let status = try interrupted(end, &terminal) { return status }
                }
            }
            let elapsed = begun.duration(to: .now)
            switch plan.action(at: elapsed) {
            case .suspend:
                center.suspend()
                terminal.say("suspended")
            case .resume:
                center.resume()
                terminal.say("resumed")
            case .end(let status): return status
            case .wait(let time): received.wait(for: time.map { $0 - elapsed })
            }
        }
    }
}
