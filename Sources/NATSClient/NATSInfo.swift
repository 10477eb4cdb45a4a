internal import FoundationEssentials

/// A server's description of itself at the beginning of a connection.
struct NATSServerInfo: Decodable {
    var maxPayload: Int
    var tlsRequired: Bool?
    var tlsAvailable: Bool?
}

/// A client's description of itself: the body of CONNECT.
struct NATSClientInfo: Encodable {
    var name: String
    var user: String?
    var pass: String?
    var authToken: String?
    var verbose = false
    var pedantic = false
    var echo = false
    var headers = true
    var noResponders = true

    init(_ options: NATSOptions) {
        (name, user, pass) = (options.name, options.credentials?.user, options.credentials?.pass)
        authToken = options.credentials?.authToken
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
