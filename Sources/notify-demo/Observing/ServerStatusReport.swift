import DeliveryDiagnostics
import DistributedNotifications

/// Formats the status of a server as tables.
struct ServerStatusReport: Sendable {
    private let status: ServerStatus

    init(_ status: ServerStatus) {
        self.status = status
    }

    /// - Parameter width: the maximum length of a line. Numbers are not wrapped.
    func text(width: Int) -> [String] {
        var lines = head(width: width)
        guard !status.clients.isEmpty else { return lines + ["", "no process is connected"] }
        lines += ["", "processes"] + clients(width: width)
        lines += ["", "queues"] + queues(width: width)
        lines += ["", "registrations"] + registrations(width: width)
        return lines
    }

    private func head(width: Int) -> [String] {
        let time = ElapsedTime(nanoseconds: status.nanoseconds)
        return WrappedText.lines(
            "server \(status.process), running for \(time), at \(ShownText.escaped(status.directory))", width: width)
            + WrappedText.lines(
                "\(status.posted) posted, \(status.delivered) delivered, \(status.dropped) dropped, "
                    + "\(status.discarded) discarded, \(status.heldBytes) bytes held", width: width)
    }

    private func clients(width: Int) -> [String] {
        Self.table(
            ["process", "posted", "delivered", "dropped", "discarded", "name"],
            status.clients.map { client in
                let numbers = [client.posted, client.delivered, client.dropped, client.discarded]
                let name = ShownText.escaped(client.name) + (client.isSuspended ? ", suspended" : "")
                return ["\(client.process)"] + numbers.map(Quantity.exact) + [name]
            }, width: width)
    }

    private func queues(width: Int) -> [String] {
        let clients = status.clients.filter { $0.waitingBytes > 0 || $0.heldEntries > 0 }
        guard !clients.isEmpty else { return ["no notifications are waiting or held"] }
        return Self.table(
            ["process", "waiting bytes", "held", "held bytes", "name"],
            clients.map { client in
                let numbers = [client.waitingBytes, client.heldEntries, client.heldBytes]
                return ["\(client.process)"] + numbers.map(Quantity.exact) + [ShownText.escaped(client.name)]
            }, width: width)
    }

    private func registrations(width: Int) -> [String] {
        let rows = status.clients.flatMap { client in
            client.observers.map { observer in
                let name = observer.name.map(ShownText.name) ?? "any name"
                let object = observer.object.map(ShownText.quoted) ?? "any object"
                return ["\(client.process)", observer.behavior.commandLineName, "\(name) of \(object)"]
            }
        }
        guard !rows.isEmpty else { return ["no observers"] }
        return Self.table(["process", "behavior", "observed"], rows, width: width)
    }

    /// The last column wraps.
    private static func table(_ headings: [String], _ rows: [[String]], width: Int) -> [String] {
        let columns = headings.dropLast().map { Table.Column.number($0) } + [.wrapped(headings[headings.count - 1])]
        return Table(columns, rows: rows).lines(width: width)
    }
}
