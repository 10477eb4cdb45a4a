/// The frames that a client sends after its hello.
extension FrameWriter {
    mutating func control(_ entry: ControlQueue.Entry) {
        switch entry {
        case .register(let number, let name, let object, let behavior):
            frame(.register) {
                $0.integer(number)
                $0.integer(behavior.wireValue)
                $0.integer((name == nil ? 0 : 1) as UInt8 | (object == nil ? 0 : 2))
                if let name { $0.string(name) }
                if let object { $0.string(object) }
            }
        case .unregister(let number): frame(.unregister) { $0.integer(number) }
        case .suspension(let flag): frame(.suspension) { $0.integer(UInt8(flag ? 1 : 0)) }
        case .synchronize(let number): frame(.synchronize) { $0.integer(number) }
        }
    }

    mutating func post(
        name: String, object: String?, userInfo: [String: PropertyListValue]?, deliverImmediately: Bool
    ) throws(DistributedError) {
        var flags: UInt8 = 0
        if deliverImmediately { flags |= PostedPayload.immediately }
        if object != nil { flags |= PostedPayload.hasObject }
        if userInfo != nil { flags |= PostedPayload.hasUserInfo }
        let start = beginFrame(.post)
        integer(flags)
        string(name)
        if let object { string(object) }
        try self.userInfo(userInfo)
        endFrame(from: start)
    }
}
