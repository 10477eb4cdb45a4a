import DeliveryDiagnostics
import DistributedNotifications
import TerminalText

extension ServerStatus {
    /// Formats the status as tables.
    ///
    /// - Parameter width: the maximum length of a line. Numbers are not wrapped.
    func report(width: Int) -> [String] {
        let lines = [
            "server \(process), running for \(ElapsedTime(nanoseconds: nanoseconds)), at "
                + ShownText.escaped(directory),
            "\(posted) posted, \(matched) matched: \(delivered) delivered, \(heldEntries) held (\(heldBytes) bytes), "
                + "\(dropped) dropped, \(discarded) discarded, \(coalesced) coalesced, \(suppressed) suppressed, "
                + "\(removed) removed",
        ].flatMap { WrappedText.lines($0, width: width) }
        guard !clients.isEmpty else { return lines + ["", "no process is connected"] }
        /// The last column wraps.
        func table(_ title: String, _ numbers: [String], _ last: String, _ rows: [[String]], none: String) -> [String] {
            let columns = (["process"] + numbers).map { Table.Column.number($0) } + [.wrapped(last)]
            return ["", title] + (rows.isEmpty ? [none] : Table(columns, rows: rows).lines(width: width))
        }
        let processes = clients.map { client in
            let numbers = [client.posted, client.matched, client.delivered].map(Quantity.exact)
            return ["\(client.process)"] + numbers
                + [ShownText.escaped(client.name) + (client.isSuspended ? ", suspended" : "")]
        }
        let queues = clients.filter { $0.waitingBytes > 0 || $0.heldEntries > 0 }.map { client in
            let numbers = [client.waitingBytes, client.heldEntries, client.heldBytes].map(Quantity.exact)
            return ["\(client.process)"] + numbers + [ShownText.escaped(client.name)]
        }
        let undelivered = clients.compactMap { client -> [String]? in
            let numbers = [
                client.dropped, client.discarded, client.coalesced, client.suppressed, client.removed,
            ]
            guard numbers.contains(where: { $0 > 0 }) else { return nil }
            return ["\(client.process)"] + numbers.map(Quantity.exact) + [ShownText.escaped(client.name)]
        }
        let registrations = clients.flatMap { client in
            client.observers.map { observer in
                let name = observer.name.map(ShownText.name) ?? "any name"
                let object = observer.object.map(ShownText.quoted) ?? "any object"
                let isImmediate = observer.behavior == .deliverImmediately
                let behavior = isImmediate ? "deliver-immediately" : observer.behavior.rawValue
                return ["\(client.process)", behavior, "\(name) of \(object)"]
            }
        }
        return lines
            + table("processes", ["posted", "matched", "delivered"], "name", processes, none: "")
            + table(
                "queues", ["waiting bytes", "held", "held bytes"], "name", queues,
                none: "no notifications are waiting or held")
            + table(
                "not delivered", ["dropped", "discarded", "coalesced", "suppressed", "removed"], "name", undelivered,
                none: "every notification was delivered, or is held")
            + table("registrations", ["behavior"], "observed", registrations, none: "no observers")
    }
}
