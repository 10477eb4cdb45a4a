#include "CControl.h"

#include <errno.h>
#include <sys/socket.h>

void CControlRelay(int source, const int *targets, int count) {
    // 64 frames of 200 bytes: the number that the server reads in one turn.
    char bytes[64 * 200];
    while (true) {
        ssize_t size = recv(source, bytes, sizeof bytes, 0);
        if (size == 0 || (size < 0 && errno != EINTR)) return;
        for (int index = 0; size > 0 && index < count; index++) {
            for (ssize_t written = 0; written < size;) {
                ssize_t more = send(targets[index], bytes + written, (size_t)(size - written), MSG_NOSIGNAL);
                if (more < 0 && errno != EINTR) return;
                if (more > 0) written += more;
            }
        }
    }
}
