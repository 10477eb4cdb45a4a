import DeliveryDiagnostics
import DistributedNotifications
import TerminalText

extension ServerStatus {
    /// Formats the status as tables; the last one has what clients say of themselves. `not held` counts what was
    /// discarded, coalesced, suppressed and removed.
    ///
    /// - Parameter width: of a line.
    func report(width: Int) -> [String] {
        func row(_ name: String, _ counts: Int...) -> [String] { [name] + counts.map(Quantity.exact) }
        let columns = ["posted", "matched", "delivered", "held", "dropped", "not held"].map { Table.Column.number($0) }
        let notHeld = discarded + coalesced + suppressed + removed
        let all = row("all", posted, matched, delivered, heldEntries, dropped, notHeld)
        let processes = clients.map { client in
            row(
                "\(client.process) \(ShownText.escaped(client.name))\(client.isSuspended ? ", suspended" : "")",
                client.posted, client.matched, client.delivered, client.heldEntries, client.dropped,
                client.discarded + client.coalesced + client.suppressed + client.removed)
        }
        let observers = clients.flatMap { client in
            client.observers.map { observer in
                let name = observer.name.map(ShownText.name) ?? "any name"
                let object = observer.object.map(ShownText.quoted) ?? "any object"
                return ["\(client.process)", observer.behavior.rawValue, "\(name) of \(object)"]
            }
        }
        let details = clients.flatMap { client in
            let details = client.isConnected ? client.details : ["not connected": Self.keptText]
            return details.sorted { $0.key < $1.key }.map { key, text in
                ["\(client.process)", ShownText.escaped(key), ShownText.escaped(text)]
            }
        }
        let columnsOfDetails: [Table.Column] = [.number("details of"), .text(), .wrapped()]
        let life = ElapsedTime(nanoseconds: nanoseconds)
        return ["server \(process), running for \(life), at \(ShownText.escaped(directory))", ""]
            + Table([.text("process", width: 0...24)] + columns, rows: [all] + processes).lines() + [""]
            + Table([.number("observed by"), .text("behavior"), .wrapped("notification")], rows: observers)
            .lines(width: width)
            + (details.isEmpty ? [] : [""] + Table(columnsOfDetails, rows: details).lines(width: width))
    }

    private static let keptText = "what it observes waits until it connects again"
}
