/// The clients of a server, by their numbers.
struct ServerClients {
    private var byNumber: [Int: ServerClient] = [:]
    private var lastNumber = 0
    /// Those that have not said hello, in the order in which they connected.
    private(set) var newcomers: [ServerClient] = []

    var count: Int { byNumber.count }
    var isEmpty: Bool { byNumber.isEmpty }
    /// In no particular order. Clients may be added and removed while a caller goes through them.
    var all: [ServerClient] { Array(byNumber.values) }
    var numbers: [Int] { Array(byNumber.keys) }

    subscript(number: Int) -> ServerClient? { byNumber[number] }

    mutating func takeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ client: ServerClient) {
        byNumber[client.number] = client
        newcomers.append(client)
    }

    mutating func hasSaidHello(_ client: ServerClient) {
        newcomers.removeAll { $0 === client }
    }

    mutating func remove(_ client: ServerClient) {
        byNumber[client.number] = nil
        if client.state.name == nil { hasSaidHello(client) }
    }
}
