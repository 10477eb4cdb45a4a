/// Why a call of the NATS client failed: what failed, on what, why, and what to do.
package struct NATSError: Error, Hashable, CustomStringConvertible {
    package enum Code: Sendable {
        /// A server, a file, a subject or a payload that the caller gave cannot be used.
        case notUsable
        /// Nobody listens, or what listens does not speak NATS.
        case notConnected
        /// The server refused this client, or TLS failed: another attempt would end in the same way.
        case rejected
        /// The connection has ended: the network broke, the server said why, was silent, or sent no NATS.
        case lost
        /// The connection was closed by this client.
        case closed
        /// A request was not answered in time.
        case notAnswered
        /// Nobody answers requests to a subject.
        case noResponders
        /// JetStream refused a request.
        case refused
    }

    package let code: Code
    package let description: String
    /// JetStream's number of the error, such as 10059 for a stream that does not exist.
    package let number: Int?

    init(_ code: Code, _ description: String, number: Int? = nil) {
        (self.code, self.description, self.number) = (code, description, number)
    }

    static func notConnected(_ server: NATSServer, _ problem: String) -> NATSError {
        NATSError(.notConnected, "There is no connection to \(server): \(problem).")
    }

    static func rejected(_ server: NATSServer, _ problem: String) -> NATSError {
        NATSError(.rejected, "There is no connection to \(server): \(problem).")
    }

    static func lost(_ server: NATSServer, _ problem: String) -> NATSError {
        NATSError(.lost, "The connection to \(server) is lost: \(problem). Connect again.")
    }

    static func closed(_ server: NATSServer) -> NATSError {
        NATSError(.closed, "The connection to \(server) was closed by this client.")
    }

    static func noResponders(_ subject: String) -> NATSError {
        let remedy = subject.hasPrefix("$JS.") ? "nats-server with JetStream (-js)" : "what answers them"
        return NATSError(.noResponders, "Nobody answers requests to \(quoted(subject.utf8)). Start \(remedy).")
    }

    /// Foreign bytes as they may stand in a message: at most 80, and nothing that a terminal would act on.
    static func quoted(_ bytes: some Sequence<UInt8>) -> String {
        let (start, rest) = (Array(bytes.prefix(81)), "…")
        let text = start.prefix(80).map { byte in
            let isPlain = 0x20..<0x7F ~= byte && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            return isPlain ? String(UnicodeScalar(byte)) : "\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
        }.joined()
        return "\"\(text)\(start.count > 80 ? rest : "")\""
    }
}
