internal import CLinux
internal import Glibc

/// A descriptor that becomes readable a few times after something has happened, at growing distances, and then not any
/// more: a `timerfd`.
final class LateCheck {
    /// In milliseconds, from the check before. So many, because the wake-up for something that a check has found may
    /// have no effect, too.
    private static let delays = [4, 8, 16, 32, 64, 128, 256]

    let descriptor: Int32
    /// The index of the delay after which the descriptor becomes readable; the number of delays: it does not.
    private var next = LateCheck.delays.count

    /// - Returns: nil if the system has no descriptor left.
    init?() {
        descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit {
        // A failed close would change the cause of the failure, which is in errno.
        if descriptor >= 0 { close(descriptor) }
    }

    /// False if the descriptor will not become readable.
    var isArmed: Bool { next < Self.delays.count }

    /// Something has happened.
    func begin() {
        // Not later because of something else: if a great deal happens, the check would never come.
        if next != 0 { arm(0) }
    }

    /// The descriptor is readable. It becomes unreadable.
    func isDue() {
        arm(next + 1)
    }

    private func arm(_ index: Int) {
        next = min(index, Self.delays.count)
        var time = itimerspec()
        // No time disarms it. Setting it makes the descriptor unreadable.
        if isArmed { time.it_value.tv_nsec = Self.delays[next] * 1_000_000 }
        timerfd_settime(descriptor, 0, &time, nil)
    }
}
