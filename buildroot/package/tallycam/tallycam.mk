################################################################################
#
# tallycam
#
################################################################################

TALLYCAM_VERSION = 0.1.0
TALLYCAM_LICENSE = Apache-2.0

ifeq ($(BR2_PACKAGE_TALLYCAM_RELEASE),y)
TALLYCAM_SITE = $(call qstrip,$(BR2_PACKAGE_TALLYCAM_RELEASE_SITE))
TALLYCAM_SOURCE = tallycam-$(TALLYCAM_VERSION)-aarch64.tar.gz
TALLYCAM_LICENSE_FILES = LICENSE
else
TALLYCAM_SITE = $(BR2_EXTERNAL_TALLYCAM_PATH)/../out/aarch64
TALLYCAM_SITE_METHOD = local
endif

# The camera's tuning files are read from disk.
define TALLYCAM_INSTALL_TUNING
	if [ -d $(@D)/share/libcamera ]; then \
		mkdir -p $(TARGET_DIR)/usr/share/libcamera && \
		cp -a $(@D)/share/libcamera/. $(TARGET_DIR)/usr/share/libcamera/; \
	fi
endef

define TALLYCAM_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/tallycam $(TARGET_DIR)/usr/bin/tallycam
	$(TALLYCAM_INSTALL_TUNING)
endef

$(eval $(generic-package))
