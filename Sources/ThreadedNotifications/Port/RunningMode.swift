internal import CoreFoundation
internal import Foundation

/// The current mode of the calling thread's run loop, if it runs. Comparing two is cheaper than comparing
/// `RunLoop.Mode`s.
package struct RunningMode: Equatable {
    private let mode: CFString?

    package static var current: RunningMode { RunningMode(mode: CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent())) }

    /// The current mode of a run loop.
    @inline(__always)
    init(of runLoop: Unmanaged<CFRunLoop>) {
        mode = runLoop._withUnsafeGuaranteedRef { CFRunLoopCopyCurrentMode($0) }
    }

    private init(mode: CFString?) {
        self.mode = mode
    }

    /// True if the run loop does not run.
    package var isNone: Bool { mode == nil }

    /// True if both are the same object. Different objects may be equal.
    @inline(__always)
    func isSame(as other: RunningMode) -> Bool { mode === other.mode }

    package static func == (one: RunningMode, other: RunningMode) -> Bool {
        if let one = one.mode, let other = other.mode { return one === other || CFEqual(one, other) }
        return one.mode == nil && other.mode == nil
    }
}

extension RunLoop.Mode {
    var coreFoundationMode: CFString {
        // CoreFoundation recognises the common modes by the address of their name.
        self == .common
            ? kCFRunLoopCommonModes : CFStringCreateWithCString(nil, rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
    }
}
