internal import FoundationEssentials

/// What a server says about itself at the beginning of a connection, and when its cluster changes.
package struct NATSServerInfo: Codable, Hashable, Sendable {
    package var serverId: String
    package var serverName: String?
    package var version: String
    package var host: String?
    package var port: Int?
    /// The largest payload that the server accepts.
    package var maxPayload: Int
    package var headers: Bool?
    package var jetstream: Bool?
    package var tlsRequired: Bool?
    package var tlsAvailable: Bool?
    /// The addresses of the cluster's servers.
    package var connectUrls: [String]?
}

/// The body of CONNECT: what a client says about itself.
struct NATSClientInfo: Encodable {
    var name: String
    var tlsRequired: Bool
    var user: String?
    var pass: String?
    var authToken: String?
    var verbose = false
    var pedantic = false
    var echo = false
    var headers = true
    var noResponders = true
    var lang = "swift"
    var version = "1.0"
    var `protocol` = 1

    init(_ options: NATSOptions, usesTLS: Bool) {
        (name, tlsRequired) = (options.name, usesTLS)
        switch options.credentials {
        case .user(let name, let password): (user, pass) = (name, password)
        case .token(let token): authToken = token
        case nil: break
        }
    }
}

/// JSON as NATS writes it: `max_payload` is `maxPayload`.
enum NATSJSON {
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        // Strings, numbers and Booleans can always be encoded.
        return Array((try? encoder.encode(value)) ?? Data())
    }

    static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: some Sequence<UInt8>) -> Value? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(type, from: Data(bytes))
    }
}
