import DeliveryDiagnostics
import DistributedNotifications
import TerminalText

extension ServerStatus {
    /// Formats the status as tables. `not held` counts what was discarded, coalesced, suppressed and removed.
    ///
    /// - Parameter width: of a line.
    func report(width: Int) -> [String] {
        let all = [
            posted, matched, delivered, heldEntries, dropped, discarded + coalesced + suppressed + removed,
        ]
        let processes = clients.map { client in
            let numbers = [
                client.posted, client.matched, client.delivered, client.heldEntries, client.dropped,
                client.discarded + client.coalesced + client.suppressed + client.removed,
            ]
            let name = "\(client.process) \(ShownText.escaped(client.name))\(client.isSuspended ? ", suspended" : "")"
            return [name] + numbers.map(Quantity.exact)
        }
        let numbers = ["posted", "matched", "delivered", "held", "dropped", "not held"].map { Table.Column.number($0) }
        let rows = [["all"] + all.map(Quantity.exact)] + processes
        let observers = clients.flatMap { client in
            client.observers.map { observer in
                let name = observer.name.map(ShownText.name) ?? "any name"
                let object = observer.object.map(ShownText.quoted) ?? "any object"
                return ["\(client.process)", observer.behavior.rawValue, "\(name) of \(object)"]
            }
        }
        let life = ElapsedTime(nanoseconds: nanoseconds)
        return ["server \(process), running for \(life), at \(ShownText.escaped(directory))", ""]
            + Table([.text("process", width: 0...24)] + numbers, rows: rows).lines() + [""]
            + Table([.number("observed by"), .text("behavior"), .wrapped("notification")], rows: observers)
            .lines(width: width)
    }
}
