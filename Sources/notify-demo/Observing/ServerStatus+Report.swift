import DeliveryDiagnostics
import DistributedNotifications

extension ServerStatus {
    /// Formats the status as tables.
    ///
    /// - Parameter width: the maximum length of a line. Numbers are not wrapped.
    func report(width: Int) -> [String] {
        var lines = head(width: width)
        guard !clients.isEmpty else { return lines + ["", "no process is connected"] }
        lines += ["", "processes"] + clients(width: width)
        lines += ["", "queues"] + queues(width: width)
        lines += ["", "registrations"] + registrations(width: width)
        return lines
    }

    private func head(width: Int) -> [String] {
        let time = ElapsedTime(nanoseconds: nanoseconds)
        return WrappedText.lines(
            "server \(process), running for \(time), at \(ShownText.escaped(directory))", width: width)
            + WrappedText.lines(
                "\(posted) posted, \(delivered) delivered, \(dropped) dropped, "
                    + "\(discarded) discarded, \(heldBytes) bytes held", width: width)
    }

    private func clients(width: Int) -> [String] {
        ServerStatus.table(
            ["process", "posted", "delivered", "dropped", "discarded", "name"],
            clients.map { client in
                let numbers = [client.posted, client.delivered, client.dropped, client.discarded]
                let name = ShownText.escaped(client.name) + (client.isSuspended ? ", suspended" : "")
                return ["\(client.process)"] + numbers.map(Quantity.exact) + [name]
            }, width: width)
    }

    private func queues(width: Int) -> [String] {
        let clients = clients.filter { $0.waitingBytes > 0 || $0.heldEntries > 0 }
        guard !clients.isEmpty else { return ["no notifications are waiting or held"] }
        return ServerStatus.table(
            ["process", "waiting bytes", "held", "held bytes", "name"],
            clients.map { client in
                let numbers = [client.waitingBytes, client.heldEntries, client.heldBytes]
                return ["\(client.process)"] + numbers.map(Quantity.exact) + [ShownText.escaped(client.name)]
            }, width: width)
    }

    private func registrations(width: Int) -> [String] {
        let rows = clients.flatMap { client in
            client.observers.map { observer in
                let name = observer.name.map(ShownText.name) ?? "any name"
                let object = observer.object.map(ShownText.quoted) ?? "any object"
                return ["\(client.process)", observer.behavior.commandLineName, "\(name) of \(object)"]
            }
        }
        guard !rows.isEmpty else { return ["no observers"] }
        return ServerStatus.table(["process", "behavior", "observed"], rows, width: width)
    }

    /// The last column wraps.
    private static func table(_ headings: [String], _ rows: [[String]], width: Int) -> [String] {
        let columns = headings.dropLast().map { Table.Column.number($0) } + [.wrapped(headings[headings.count - 1])]
        return Table(columns, rows: rows).lines(width: width)
    }
}
