/// Why a call of the NATS client failed: what failed, on what, why, and what to do.
package struct NATSError: Error, CustomStringConvertible {
    package let description: String
    /// Another attempt would end in the same way.
    package let needsConfiguration: Bool
    /// JetStream's number of the error.
    package let number: Int?

    init(_ description: String, needsConfiguration: Bool = true, number: Int? = nil) {
        (self.description, self.needsConfiguration, self.number) = (description, needsConfiguration, number)
    }

    static func notConnected(_ server: NATSServer, _ problem: String) -> NATSError {
        NATSError("There is no connection to \(server): \(problem).", needsConfiguration: false)
    }

    /// The server refused this client, or TLS failed.
    static func rejected(_ server: NATSServer, _ problem: String) -> NATSError {
        NATSError("There is no connection to \(server): \(problem).")
    }

    static func lost(_ server: NATSServer, _ problem: String) -> NATSError {
        NATSError("The connection to \(server) is lost: \(problem).", needsConfiguration: false)
    }

    /// Foreign bytes as they may stand in a message: not many, and nothing that a terminal would act on.
    static func quoted(_ bytes: some Sequence<UInt8>) -> String {
        let text = String(decoding: Array(bytes.prefix(80)), as: UTF8.self)
        return "\"\(text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\""
    }
}
