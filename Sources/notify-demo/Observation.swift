import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import ThreadedNotifications

/// An observer on the main thread, for a command that runs the main thread's run loop until it ends.
struct Observation {
    /// What is observed, told.
    let description: String
    private let center: DistributedCenter
    private let arrivals = Arrivals()
    /// Dropping them would remove the observers.
    private let tokens: [ObserverToken]

    /// Registers the observer. When it returns, the registration is in effect. That may take `timeout`, but always 2
    /// seconds and never more than 5.
    init(
        name: String?, object: String?, behavior: SuspensionBehavior, place: ServerPlace, timeout: Duration?
    ) throws {
        description = [name ?? "any notification", object.map { "of \($0)" }].compactMap(\.self).joined(separator: " ")
        center = DistributedCenter(place: place)
        let arrivals = arrivals
        try EndRequest.handle(within: .seconds(1)) { arrivals.interrupt(.signal($0)) }
        let connection = center.addConnectionObserver(on: .main) { arrivals.add($0) }
        let observer = try center.addObserver(
            forName: name.map { Notification.Name($0) }, object: object, suspensionBehavior: behavior, on: .main
        ) { arrivals.add($0) }
        tokens = [connection, observer]
        try center.synchronize(limit: min(max(timeout ?? .seconds(5), .seconds(2)), .seconds(5)))
    }

    /// On any thread: has `run` call its `interrupted`.
    func interrupt(_ end: StartedCommand.End) {
        arrivals.interrupt(.commandEnded(end))
    }

    /// Observes until the plan says that it is enough.
    ///
    /// - Parameters:
    ///   - show: called with each event as it came.
    ///   - interrupted: says how to end when a command has ended, or nil to go on.
    func run(
        _ plan: ObservingPlan, _ terminal: inout Terminal,
        show: (ObservedEvent, inout Terminal) throws -> Void,
        interrupted: (StartedCommand.End, inout Terminal) throws -> ExitStatus?
    ) throws -> ExitStatus {
        defer { center.close() }
        var plan = plan
        let begun = ContinuousClock.now
        while true {
            let (events, interruptions) = arrivals.take()
            for event in events {
                try show(event, &terminal)
                if case .notification = event.kind { plan.notificationCame() }
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
                center.isSuspended = true
                terminal.say("suspended")
            case .resume:
                center.isSuspended = false
                terminal.say("resumed")
            case .end(let status): return status
            case .wait(let time): arrivals.wait(for: time.map { $0 - elapsed })
            }
        }
    }
}
