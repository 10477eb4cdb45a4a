internal import CoreFoundation
internal import Foundation

/// The current mode of the calling thread's run loop, if it runs.
package struct RunningMode: Equatable {
    private let mode: CFString?

    package static var current: RunningMode { RunningMode(mode: CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent())) }

    /// True if the run loop does not run.
    package var isNone: Bool { mode == nil }

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
