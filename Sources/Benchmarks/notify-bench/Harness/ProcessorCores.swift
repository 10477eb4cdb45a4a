internal import CControl

/// The cores of the processor, and the threads bound to them.
package enum ProcessorCores {
    /// Restricts the calling thread, and threads that it starts later, to some of the available cores; without any, it
    /// has no effect.
    package static func pinCurrentThread(to cores: [Int]) {
        if !cores.isEmpty { _ = CControlPin(cores.map(Int32.init), Int32(cores.count)) }
    }

    static func pinCurrentThread(to core: Int?) { pinCurrentThread(to: [core].compactMap(\.self)) }

    /// The cores that the calling thread may run on.
    package static var available: [Int] { (0..<1024).filter { CControlMayRunOn(Int32($0)) } }
}
